// The child's PATH: the caller's, without the entries in which we would look up no tool (trust.h).
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "locate/trust.h"

namespace sallyport {

// The trusted entries of `path`, in their order and as they were written. Relative and empty entries (both mean the
// child's working directory), missing ones, those inside the repo and those that another user could write are left out.
[[nodiscard]] std::string trusted_entries(std::string_view path, const TrustContext& context);

// The same for one caller's PATH, worked out once per repo: a walk over every entry costs a warm start several percent.
// Caching is sound, because only root and we can change a trusted entry. Thread-safe.
class ChildPath {
 public:
  explicit ChildPath(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::string trusted_for(const std::filesystem::path& repo);

 private:
  const std::string path_;
  std::mutex mutex_;
  std::optional<std::filesystem::path> repo_;  // whose answer `trusted_` is
  std::string trusted_;
};

}  // namespace sallyport
