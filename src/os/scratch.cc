#include "os/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "os/file.h"
#include "os/owned_dir.h"
#include "os/remove_tree.h"
#include "os/user_namespace.h"

namespace sallyport {
namespace {

// A user who may rename our directory and put another in its place decides what a later lookup by path finds. The
// sticky bit denies that to everyone but the owner of `root`, who therefore has to be root or us.
Result<UniqueFd> open_scratch_root(const std::filesystem::path& root) {
  UniqueFd fd = TRY(open_path(root, O_RDONLY | O_DIRECTORY));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return fail(system_error("stat", root.native(), errno));
  const bool sticky = (info.st_mode & S_ISVTX) != 0;
  // In a user namespace the host's root, which owns /tmp, is not mapped.
  const bool unmapped = sticky && info.st_uid != 0 && unmapped_owner() == info.st_uid;
  if (info.st_uid != 0 && info.st_uid != ::geteuid() && !unmapped) {
    return fail(invalid_request("scratch root", printable(root.native()) + " belongs to another user",
                                "choose a directory of your own, or /tmp"));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky) {
    return fail(invalid_request("scratch root", printable(root.native()) + " is writable by others and not sticky",
                                "set the sticky bit with 'chmod +t', or choose another directory"));
  }
  return fd;
}

bool is_held_elsewhere(int directory) { return ::faccessat(directory, kHeldElsewhere, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

}  // namespace

Result<ScratchDir> ScratchDir::create(const std::filesystem::path& root) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(root, ignored);
  UniqueFd root_fd = TRY(open_scratch_root(absolute));
  OwnedDir made = TRY(make_owned_dir(root_fd.get(), 0700, absolute.native()));
  std::filesystem::path path = absolute / made.name;
  ScratchDir scratch(std::move(root_fd), std::move(made.lock), std::move(made.name), std::move(path));
  // mkdir applied the umask and the setgid bit of `root`.
  if (::fchmod(scratch.fd(), 0700) != 0) return fail(system_error("set the mode of", scratch.path().native(), errno));
  return scratch;
}

ScratchDir& ScratchDir::operator=(ScratchDir&& other) noexcept {
  if (this != &other) {
    static_cast<void>(remove());
    root_ = std::move(other.root_);
    lock_ = std::move(other.lock_);
    name_ = std::move(other.name_);
    path_ = std::move(other.path_);
  }
  return *this;
}

ScratchDir::~ScratchDir() { static_cast<void>(remove()); }

Status ScratchDir::remove() {
  if (!root_) return {};
  TRY(remove_tree_at(root_.get(), name_));
  lock_.reset();
  root_.reset();
  return {};
}

Result<std::size_t> sweep_stale_scratch(const std::filesystem::path& root) {
  UniqueFd fd = TRY(open_scratch_root(root));
  return sweep_owned_dirs(fd.get(), root.native(), [](int parent, int directory, const std::string& name) -> Status {
    if (is_held_elsewhere(directory)) return {};
    return remove_tree_at(parent, name);
  });
}

Result<std::size_t> sweep_stale_scratch(const std::filesystem::path& root,
                                        const std::function<Status(int directory, const std::string& name)>& release) {
  UniqueFd fd = TRY(open_scratch_root(root));
  return sweep_owned_dirs(fd.get(), root.native(), [&](int parent, int directory, const std::string& name) -> Status {
    if (is_held_elsewhere(directory)) TRY(release(directory, name));
    return remove_tree_at(parent, name);
  });
}

}  // namespace sallyport
