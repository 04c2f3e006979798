#include "workspace/deleted_files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/view/fs_view.h"
#include "os/directory.h"
#include "sallyport/unique_fd.h"

namespace sallyport::workspace {
namespace {

constexpr std::uint64_t kBytesPerBlock = 512;  // of st_blocks (stat(2))

std::string link_text(int directory, const std::string& name) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
  return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

std::vector<std::string> names_in(int directory) {
  return list_directory(directory, "/proc").value_or(std::vector<std::string>());
}

bool is_number(std::string_view name) { return name.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

std::uint64_t deleted_bytes_held(const std::filesystem::path& directory) {
  const UniqueFd proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!proc) return 0;
  const std::string ours = link_text(proc.get(), "self/ns/pid");
  const std::array<std::string, 2> above = {directory.native() + "/", std::string(kJailRepo) + "/"};
  std::set<std::pair<dev_t, ino_t>> seen;
  std::uint64_t bytes = 0;
  for (const std::string& pid : names_in(proc.get())) {
    if (!is_number(pid)) continue;
    const std::string theirs = link_text(proc.get(), pid + "/ns/pid");
    if (theirs.empty() || theirs == ours) continue;  // we may not inspect it, or it is no jail
    const UniqueFd fds(::openat(proc.get(), (pid + "/fd").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fds) continue;
    for (const std::string& fd : names_in(fds.get())) {
      const std::string text = link_text(fds.get(), fd);
      const bool below =
          std::ranges::any_of(above, [&text](const std::string& prefix) { return text.starts_with(prefix); });
      struct stat info{};
      if (!below || !text.ends_with(" (deleted)") || ::fstatat(fds.get(), fd.c_str(), &info, 0) != 0) continue;
      if (info.st_nlink > 0 || !S_ISREG(info.st_mode) || !seen.emplace(info.st_dev, info.st_ino).second) continue;
      bytes += static_cast<std::uint64_t>(info.st_blocks) * kBytesPerBlock;
    }
  }
  return bytes;
}

}  // namespace sallyport::workspace
