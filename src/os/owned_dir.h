// The naming and liveness scheme shared by scratch directories (C16) and run cgroups: a directory has a living owner
// exactly as long as a process holds an flock on it. The kernel drops the lock when the owner dies, however it dies.
// Unlike a pid, the lock is never reused and means the same in every pid namespace.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// "sallyport-<uid>-<pid>-<16 hex digits>"; uid and pid are only for a person who reads `ls`.
[[nodiscard]] std::string owned_dir_name();
[[nodiscard]] bool is_owned_dir_name(std::string_view name, uid_t uid);

struct OwnedDir {
  UniqueFd lock;  // the directory itself, flocked; O_RDONLY | O_DIRECTORY | CLOEXEC
  std::string name;
};

// Makes and locks a new directory in `parent`. A sweeper may remove it between mkdir and flock: then we make another
// one.
[[nodiscard]] Result<OwnedDir> make_owned_dir(int parent, mode_t mode, std::string_view subject);

using RemoveDir = std::function<Status(int parent, int directory, const std::string& name)>;

// Calls `remove` for each directory of our uid and naming scheme whose owner is gone, with its lock held. Returns how
// many were removed. A directory that cannot be removed does not stop the others; the first such error is returned at
// the end.
[[nodiscard]] Result<std::size_t> sweep_owned_dirs(int parent, std::string_view subject, const RemoveDir& remove);

}  // namespace sallyport
