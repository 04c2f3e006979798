#include "locate/child_path.h"

namespace sallyport {

std::string trusted_entries(std::string_view path, const TrustContext& context) {
  std::string kept;
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const std::string_view entry = path.substr(0, colon);
    path.remove_prefix(colon == std::string_view::npos ? path.size() : colon + 1);
    if (!entry.starts_with('/') || !trusted_directory(entry, context)) continue;
    if (!kept.empty()) kept += ':';
    kept += entry;
  }
  return kept;
}

std::string ChildPath::trusted_for(const std::filesystem::path& repo) {
  const std::scoped_lock lock(mutex_);
  if (repo_ != repo) {
    trusted_ = trusted_entries(path_, TrustContext::current(repo));
    repo_ = repo;
  }
  return trusted_;
}

}  // namespace sallyport
