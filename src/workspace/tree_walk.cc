#include "workspace/tree_walk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "os/directory.h"
#include "os/openat2.h"

namespace sallyport::workspace {
namespace {

constexpr mode_t kOwnerLists = S_IRUSR | S_IXUSR;

}  // namespace

Result<OpenedDirectory> open_any_directory(int parent, const std::string& name) {
  OpenedDirectory opened;
  const UniqueFd path(::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!path || ::fstat(path.get(), &opened.info) != 0) return fail(system_error("open", name, errno));
  const std::string by_descriptor = fmt::format("/proc/self/fd/{}", path.get());
  const bool is_ours = opened.info.st_uid == ::geteuid();
  if (is_ours && (opened.info.st_mode & kOwnerLists) != kOwnerLists) {
    // By the descriptor: the name could mean another directory by now.
    if (::chmod(by_descriptor.c_str(), (opened.info.st_mode & 07777) | kOwnerLists) != 0) {
      return fail(system_error("open", name, errno));
    }
    opened.was_opened_up = true;
  }
  const int fd = openat2_beneath(path.get(), ".", O_RDONLY | O_DIRECTORY);
  if (fd < 0) return fail(system_error("open", name, -fd));
  opened.fd = UniqueFd(fd);
  return opened;
}

TreeWalk::~TreeWalk() {
  while (levels_.size() > 1 && ascend()) {
  }
}

Status TreeWalk::list_here(const struct stat& info, bool was_opened_up) {
  Level level{.device = info.st_dev,
              .inode = info.st_ino,
              .mode = info.st_mode,
              .was_opened_up = was_opened_up,
              .names = TRY(list_directory(here_.get(), path_)),
              .path_size = path_.size()};
  std::ranges::sort(level.names);
  levels_.push_back(std::move(level));
  return {};
}

Status TreeWalk::descend() {
  if (shut_ == Shut::kSkipped) {
    const int fd = openat2_beneath(here_.get(), name_.c_str(), O_RDONLY | O_DIRECTORY);
    if (fd == -EACCES) {
      ++skipped_;
      return {};
    }
    if (fd < 0) return fail(system_error("open", path_, -fd));
    here_ = UniqueFd(fd);
    return list_here(info_, false);
  }
  OpenedDirectory inner = TRY(open_any_directory(here_.get(), name_));
  here_ = std::move(inner.fd);
  return list_here(inner.info, inner.was_opened_up);
}

Status TreeWalk::ascend() {
  const Level left = std::move(levels_.back());
  levels_.pop_back();
  UniqueFd above(::openat(here_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error_number = errno;
  if (left.was_opened_up) static_cast<void>(::fchmod(here_.get(), left.mode & 07777));
  struct stat info{};
  if (!above) return fail(system_error("leave", path_, error_number));
  if (::fstat(above.get(), &info) != 0) return fail(system_error("leave", path_, errno));
  if (info.st_dev != levels_.back().device || info.st_ino != levels_.back().inode) {
    return fail(system_error("leave", path_, ESTALE));  // somebody moved it
  }
  here_ = std::move(above);
  return {};
}

Result<bool> TreeWalk::next() {
  if (!started_) {
    started_ = true;
    struct stat info{};
    if (::fstat(here_.get(), &info) != 0) return fail(system_error("stat", "a layer", errno));
    TRY(list_here(info, false));
  } else if (std::exchange(enters_, false)) {
    const Status entered = descend();
    const auto* const why = entered ? nullptr : entered.error().as<SystemError>();
    if (!entered && (why == nullptr || why->error_number != ENOENT)) return fail(entered.error());
  }
  for (;;) {
    Level& level = levels_.back();
    path_.resize(level.path_size);
    if (level.at == level.names.size()) {
      if (levels_.size() == 1) return false;
      TRY(ascend());
      continue;
    }
    name_ = level.names[level.at++];
    if (::fstatat(here_.get(), name_.c_str(), &info_, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return fail(system_error("stat", name_, errno));
    }
    if (!path_.empty()) path_ += '/';
    path_ += name_;
    // A mount in it comes from the host and does not belong to the layer.
    enters_ = S_ISDIR(info_.st_mode) && info_.st_dev == level.device;
    return true;
  }
}

}  // namespace sallyport::workspace
