#include "gate/git_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "gate/git_scan.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

constexpr ByteCount kLargestFile = mebibytes(1);
constexpr int kMostNames = 1000;

struct EntryPlace {
  UniqueFd directory;
  std::string name;
};

Result<EntryPlace> place_of(int root, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? std::string() : path.substr(0, slash);
  return EntryPlace{.directory = TRY(open_listable(root, directory)), .name = path.substr(slash + 1)};
}

// Runs `change` on an entry of the directory, even if a tool has removed our right to write there.
template <class Change>
int with_right_to_write(int directory, Change change) {
  if (change() == 0) return 0;
  struct stat info{};
  if (errno != EACCES || ::fstat(directory, &info) != 0) return errno;
  if (::fchmod(directory, (info.st_mode & 07777U) | 0700U) != 0) return EACCES;
  const int result = change() == 0 ? 0 : errno;
  if (::fchmod(directory, info.st_mode & 07777U) != 0) return errno;
  return result;
}

bool made_since(const struct statx& about, const timespec& started) {
  if ((about.stx_mask & STATX_BTIME) == 0) return false;
  return about.stx_btime.tv_sec > started.tv_sec ||
         (about.stx_btime.tv_sec == started.tv_sec && about.stx_btime.tv_nsec >= started.tv_nsec);
}

Result<std::string> set_aside(const EntryPlace& place) {
  for (int number = 0; number < kMostNames; ++number) {
    const std::string aside =
        fmt::format("{}.taken-back-by-sallyport{}", place.name, number == 0 ? "" : fmt::format("-{}", number));
    const int error = with_right_to_write(place.directory.get(), [&] {
      return ::renameat2(place.directory.get(), place.name.c_str(), place.directory.get(), aside.c_str(),
                         RENAME_NOREPLACE);
    });
    if (error == 0) return fmt::format("set aside as {}", aside);
    if (error != EEXIST) return fail(system_error("rename", printable(place.name), error));
  }
  return fail(system_error("rename", printable(place.name), EEXIST));
}

}  // namespace

std::string git_below(const std::string& git_directory, std::string_view name) {
  return git_directory.empty() ? std::string(name) : fmt::format("{}/{}", git_directory, name);
}

Result<std::string> read_git_file(int root, const std::string& path) {
  const UniqueFd found(openat2_within(root, path.c_str(), O_PATH | O_NOFOLLOW));
  struct stat info{};
  if (!found || ::fstat(found.get(), &info) != 0) return fail(system_error("open", printable(path), ENOENT));
  if (!S_ISREG(info.st_mode)) return fail(system_error("read", printable(path), EINVAL));
  const int fd = openat2_within(root, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (fd < 0) return fail(system_error("open", printable(path), -fd));
  const UniqueFd opened(fd);
  struct stat now{};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) return fail(system_error("read", printable(path), EINVAL));
  return read_all(fd, kLargestFile, path);
}

Result<std::string> read_git_link(int root, const std::string& path) {
  const UniqueFd found(openat2_within(root, path.c_str(), O_PATH | O_NOFOLLOW));
  std::array<char, PATH_MAX> text;
  const ssize_t length = found ? ::readlinkat(found.get(), "", text.data(), text.size()) : -1;
  if (length < 0) return fail(system_error("read", printable(path), errno));
  return std::string(text.data(), static_cast<std::size_t>(length));
}

Result<std::string> take_back(int root, const std::string& path, const timespec& started) {
  const EntryPlace place = TRY(place_of(root, path));
  struct statx about{};
  if (::statx(place.directory.get(), place.name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_BTIME, &about) != 0) {
    return fail(system_error("stat", printable(path), errno));
  }
  if (S_ISDIR(about.stx_mode) || !made_since(about, started)) return set_aside(place);
  const int error = with_right_to_write(place.directory.get(),
                                        [&] { return ::unlinkat(place.directory.get(), place.name.c_str(), 0); });
  if (error != 0) return fail(system_error("remove", printable(path), error));
  return "removed";
}

Status put_git_link(int root, const std::string& path, const std::string& text) {
  const EntryPlace place = TRY(place_of(root, path));
  const int error = with_right_to_write(
      place.directory.get(), [&] { return ::symlinkat(text.c_str(), place.directory.get(), place.name.c_str()); });
  if (error != 0) return fail(system_error("restore", printable(path), error));
  return {};
}

Status rewrite_git_file(int root, const std::string& path, std::string_view text) {
  const int fd = openat2_within(root, path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (fd < 0) return fail(system_error("open", printable(path), -fd));
  const UniqueFd opened(fd);
  struct stat now{};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode) || now.st_nlink != 1) {
    return fail(system_error("write", printable(path), EINVAL));
  }
  if (::ftruncate(fd, 0) != 0) return fail(system_error("write", printable(path), errno));
  return write_all(fd, text, path);
}

}  // namespace sallyport
