#include "tools/hash_cache_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/sha256.h"
#include "os/file.h"

namespace sallyport {
namespace {

constexpr ByteCount kFileCap{256 * 1024};

// Whoever can write the cache can vouch for any file: only we may.
bool is_ours_alone(int fd, mode_t type) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<UniqueFd> open_own_directory(const std::filesystem::path& directory) {
  Result<UniqueFd> fd = open_path(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd || !is_ours_alone(fd->get(), S_IFDIR)) return std::nullopt;
  return *std::move(fd);
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
  // Over the bound the files that changed last are kept: the others were most likely replaced by them.
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

std::map<FileStamp, std::string> load_hashes(const std::filesystem::path& directory) {
  const std::optional<UniqueFd> parent = open_own_directory(directory);
  if (!parent) return {};
  const Result<UniqueFd> file =
      open_path_at(parent->get(), std::string(kHashFileName), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file || !is_ours_alone(file->get(), S_IFREG)) return {};
  const Result<std::string> text = read_all(file->get(), kFileCap, kHashFileName);
  return text ? parse_hashes(*text) : std::map<FileStamp, std::string>{};
}

void save_hashes(const std::filesystem::path& directory, const std::map<FileStamp, std::string>& hashes) {
  std::error_code ignored;
  std::filesystem::create_directories(directory.parent_path(), ignored);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return;
  if (!open_own_directory(directory)) return;
  static_cast<void>(write_file_atomically(directory / kHashFileName, format_hashes(hashes), 0600));
}

}  // namespace sallyport
