#include "os/posix/private_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "core/errors.h"
#include "os/posix/still_there.h"

namespace sallyport::posix {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
// Bounds the recursion: a deeper tree stays for the next sweep, which has the same bound.
constexpr int kDeepest = 512;

std::string prefix() { return fmt::format("sallyport-{}-", ::geteuid()); }

// A tool may have left it without permissions. Changes only a directory's mode: it follows no symlink.
UniqueFd open_directory(int parent, const std::string& name) {
  UniqueFd fd(::openat(parent, name.c_str(), kDirectory));
  if (!fd && errno == EACCES && ::fchmodat(parent, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW) == 0) {
    fd = UniqueFd(::openat(parent, name.c_str(), kDirectory));
  }
  if (fd) static_cast<void>(::fchmod(fd.get(), 0700));
  return fd;
}

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  UniqueFd own(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  if (!own) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
  if (!stream) return names;
  static_cast<void>(own.release());
  ::rewinddir(stream.get());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of a stream that nobody else has
  while (const dirent* const entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

void remove_tree(int parent, const std::string& name, int depth) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || depth > kDeepest) return;
  if (const UniqueFd directory = open_directory(parent, name)) {
    for (const std::string& inner : names_in(directory.get())) remove_tree(directory.get(), inner, depth + 1);
  }
  static_cast<void>(::unlinkat(parent, name.c_str(), AT_REMOVEDIR));
}

struct Locked {
  std::string name;
  UniqueFd fd;
};

// A sweep of another process may lock or remove a directory that is not locked yet: then makes another one.
Result<Locked> make_locked(int parent, const std::string& root) {
  constexpr int kAttempts = 16;
  std::random_device random;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = fmt::format("{}{}-{:08x}{:08x}", prefix(), ::getpid(), random(), random());
    if (::mkdirat(parent, name.c_str(), 0700) != 0) return fail(system_error("create", root + "/" + name, errno));
    UniqueFd fd(::openat(parent, name.c_str(), kDirectory));
    const bool locked = fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (locked && still_there(parent, name, fd.get())) return Locked{.name = std::move(name), .fd = std::move(fd)};
    // ENOENT: removed; EWOULDBLOCK: locked, and soon removed.
    if (const int why = errno; !locked && why != ENOENT && why != EWOULDBLOCK) {
      static_cast<void>(::unlinkat(parent, name.c_str(), AT_REMOVEDIR));
      return fail(system_error("lock", root + "/" + name, why, "its file system must support flock"));
    }
  }
  return fail(system_error("lock a new directory in", root, EAGAIN, "another process removes each at once"));
}

bool is_ours(int fd) {
  struct stat info{};
  return ::fstat(fd, &info) == 0 && info.st_uid == ::geteuid();
}

}  // namespace

Result<PrivateDir> PrivateDir::create(const std::string& root, std::initializer_list<const char*> parts) {
  UniqueFd parent(::open(root.c_str(), kDirectory));
  if (!parent) return fail(system_error("open", root, errno));
  struct stat info{};
  if (::fstat(parent.get(), &info) != 0) return fail(system_error("stat", root, errno));
  const bool shared = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (shared || (info.st_uid != 0 && info.st_uid != ::geteuid())) {
    return fail(invalid_request("scratch root", root + " can be changed by others",
                                "choose a directory of your own, or one with the sticky bit"));
  }
  auto [name, lock] = TRY(make_locked(parent.get(), root));
  PrivateDir made(std::move(parent), root, std::move(name));
  made.lock_ = std::move(lock);
  for (const char* part : parts) {
    if (::mkdirat(made.lock_.get(), part, 0700) != 0) return fail(system_error("create", made.path(), errno));
  }
  return made;
}

PrivateDir::~PrivateDir() {
  if (parent_) remove_tree(parent_.get(), name_, 0);
}

std::size_t sweep_private_dirs(const std::string& root) {
  const UniqueFd parent(::open(root.c_str(), kDirectory));
  if (!parent) return 0;
  std::size_t removed = 0;
  for (const std::string& name : names_in(parent.get())) {
    if (!name.starts_with(prefix())) continue;
    const UniqueFd stale(::openat(parent.get(), name.c_str(), kDirectory));
    if (!stale || !is_ours(stale.get()) || ::flock(stale.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!still_there(parent.get(), name, stale.get())) continue;
    remove_tree(parent.get(), name, 0);
    ++removed;
  }
  return removed;
}

}  // namespace sallyport::posix
