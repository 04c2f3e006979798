#include "locate/hash_cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/bytes/sha256.h"
#include "core/view/paths.h"
#include "locate/trust.h"
#include "os/file.h"

namespace sallyport {
namespace {

constexpr ByteCount kFileCap{256 * 1024};

// A user who can write the cache can make any file trusted: only we may write it.
bool is_ours_alone(int fd, mode_t type) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// A place may be the file itself.
bool is_exposed(const std::filesystem::path& canonical, const ExposedPlaces& exposed) {
  const std::filesystem::path file = canonical / kHashFileName;
  return std::ranges::any_of(exposed, [&](const auto& place) { return is_inside(file, place); });
}

// No other user can have put it there: no other user may change it, or a directory or symlink on the way.
std::optional<TrustedNode> find_own_directory(const std::filesystem::path& directory) {
  Trusted<TrustedNode> node = trusted_directory(directory, TrustContext::current({}));
  if (!node || !is_ours_alone(node->fd.get(), S_IFDIR)) return std::nullopt;
  return *std::move(node);
}

std::optional<TrustedNode> open_own_directory(const std::filesystem::path& directory, const ExposedPlaces& exposed) {
  std::optional<TrustedNode> node = find_own_directory(directory);
  if (!node || is_exposed(node->path, exposed)) return std::nullopt;
  return node;
}

// Never make a missing home: services have such homes on purpose.
void make_missing(const std::filesystem::path& directory, const ExposedPlaces& exposed) {
  const std::filesystem::path parent = directory.parent_path();
  if (parent.filename() == ".cache") {
    if (const auto home = open_own_directory(parent.parent_path(), exposed)) {
      static_cast<void>(::mkdirat(home->fd.get(), parent.filename().c_str(), 0700));
    }
  }
  if (const auto node = open_own_directory(parent, exposed)) {
    static_cast<void>(::mkdirat(node->fd.get(), directory.filename().c_str(), 0700));
  }
}

template <class Number>
bool take_number(std::string_view& line, Number& number) {
  const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (problem != std::errc{} || rest == line.data() + line.size() || *rest != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(rest - line.data()) + 1);
  return true;
}

}  // namespace

std::map<FileStamp, std::string> parse_hashes(std::string_view text) {
  std::map<FileStamp, std::string> hashes;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};  // torn
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    FileStamp stamp;
    const bool whole = take_number(line, stamp.device) && take_number(line, stamp.inode) &&
                       take_number(line, stamp.size) && take_number(line, stamp.mtime_ns) &&
                       take_number(line, stamp.ctime_ns) && is_sha256_hex(line);
    if (!whole || hashes.size() >= kMostHashes) return {};
    hashes.emplace(stamp, line);
  }
  return hashes;
}

std::string format_hashes(const std::map<FileStamp, std::string>& hashes) {
  // Above the bound, keep the files that changed last: they probably replaced the others.
  std::vector<std::pair<FileStamp, std::string_view>> kept(hashes.begin(), hashes.end());
  std::ranges::sort(kept, [](const auto& a, const auto& b) { return a.first.ctime_ns > b.first.ctime_ns; });
  if (kept.size() > kMostHashes) kept.resize(kMostHashes);
  std::string text;
  for (const auto& [stamp, sha256] : kept) {
    fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {}\n", stamp.device, stamp.inode, stamp.size,
                   stamp.mtime_ns, stamp.ctime_ns, sha256);
  }
  return text;
}

std::map<FileStamp, std::string> load_hashes(const std::filesystem::path& directory, const ExposedPlaces& exposed) {
  const std::optional<TrustedNode> parent = open_own_directory(directory, exposed);
  if (!parent) return {};
  const Result<UniqueFd> file =
      open_path_at(parent->fd.get(), std::string(kHashFileName), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file || !is_ours_alone(file->get(), S_IFREG)) return {};
  const Result<std::string> text = read_all(file->get(), kFileCap, kHashFileName);
  return text ? parse_hashes(*text) : std::map<FileStamp, std::string>{};
}

void save_hashes(const std::filesystem::path& directory, const std::map<FileStamp, std::string>& hashes,
                 const ExposedPlaces& exposed) {
  std::optional<TrustedNode> own = open_own_directory(directory, exposed);
  if (!own) {
    make_missing(directory, exposed);
    own = open_own_directory(directory, exposed);
  }
  if (!own) return;
  static_cast<void>(write_file_atomically(own->path / kHashFileName, format_hashes(hashes), 0600));
}

void remove_exposed_hashes(const std::filesystem::path& directory, const ExposedPlaces& exposed) {
  const std::optional<TrustedNode> own = find_own_directory(directory);
  if (!own || !is_exposed(own->path, exposed)) return;
  static_cast<void>(::unlinkat(own->fd.get(), std::string(kHashFileName).c_str(), 0));
}

}  // namespace sallyport
