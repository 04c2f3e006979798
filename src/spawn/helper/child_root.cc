// Between clone and exec, as the jail's init: builds the new root out of the image's operations and pivots into it.
// Opens every host path before it covers anything. A path that the caller chose is compared with what the owner saw and
// then used by descriptor only, so a symlink or rename swapped in meanwhile makes the step fail. The system's own paths
// (kOpSystem) go by name, which halves the calls: only root can write at their source, and only we at their target.
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "spawn/helper/check_text.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

using wire::Op;
using wire::OpKind;
using wire::Stage;

constexpr long kDetach = 2;  // MNT_DETACH of <sys/mount.h>, which cannot be included beside <linux/mount.h>

// Init mounts the new root over this path, which always exists and is no bind's source, until pivot_root makes it "/".
constexpr const char* kStagingPoint = "/proc";

// Closes its descriptors together, a row with one call. One above the highest stays open, in init alone.
class Opened {
 public:
  long add(long fd) {
    if (fd >= 0 && fd < kHighest) rows_[fd / 64] |= 1ULL << (fd % 64);
    return fd;
  }
  void close_all() {
    for (long fd = 0; fd < kHighest;) {
      const long first = fd;
      while (fd < kHighest && has(fd)) ++fd;
      if (fd > first) sys(__NR_close_range, first, fd - 1, 0L);
      ++fd;
    }
  }

 private:
  static constexpr long kHighest = 1024;
  [[nodiscard]] bool has(long fd) const { return (rows_[fd / 64] >> (fd % 64) & 1) != 0; }

  std::uint64_t rows_[kHighest / 64] = {};
};

long open_without_symlinks(const char* path, std::uint64_t more_rules) {
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | more_rules;
  return sys(__NR_openat2, long{AT_FDCWD}, path, &how, long{sizeof how});
}

std::uint64_t mount_attributes(std::uint32_t op_flags) {
  std::uint64_t attributes = MOUNT_ATTR_NOSUID;
  if ((op_flags & wire::kOpReadOnly) != 0) attributes |= MOUNT_ATTR_RDONLY;
  if ((op_flags & wire::kOpNoDevices) != 0) attributes |= MOUNT_ATTR_NODEV;
  if ((op_flags & wire::kOpNoExec) != 0) attributes |= MOUNT_ATTR_NOEXEC;
  return attributes;
}

// A detached, recursively restricted copy of the mount tree at `path`, or at `fd` itself when that is empty. Recursive
// because the kernel refuses to clone only the top of a tree with locked mounts below it.
long clone_tree(long fd, const char* path, std::uint32_t op_flags) {
  const long tree = sys(__NR_open_tree, fd, path,
                        long{OPEN_TREE_CLONE} | long{OPEN_TREE_CLOEXEC} | long{AT_RECURSIVE} |
                            long{AT_SYMLINK_NOFOLLOW} | (*path == '\0' ? long{AT_EMPTY_PATH} : 0L));
  if (tree < 0) return tree;
  struct mount_attr attributes = {};
  attributes.attr_set = mount_attributes(op_flags);
  const long restricted =
      sys(__NR_mount_setattr, tree, "", long{AT_EMPTY_PATH} | long{AT_RECURSIVE}, &attributes, long{sizeof attributes});
  return restricted < 0 ? restricted : tree;
}

long check_identity(const Op& op, long fd) {
  struct statx about = {};
  const long known = sys(__NR_statx, fd, "", long{AT_EMPTY_PATH}, long{STATX_INO}, &about);
  if (known < 0) return known;
  const std::uint64_t device = (std::uint64_t{about.stx_dev_major} << 32U) | about.stx_dev_minor;
  return device == op.device && about.stx_ino == op.inode ? 0 : -116;  // ESTALE
}

bool open_source(const Run& run, Op& op, Opened& opened, Steps& steps) {
  long tree = 0;
  if ((op.flags & wire::kOpSystem) != 0) {
    tree = clone_tree(AT_FDCWD, run.at(op.source), op.flags);
    if (!steps.ok(Stage::kOpenSource, tree == -2 ? tree : 0)) return false;  // ENOENT
  } else {
    const long fd = opened.add(open_without_symlinks(run.at(op.source), 0));
    if (!steps.ok(Stage::kOpenSource, fd)) return false;
    if (op.device != 0 && !steps.ok(Stage::kSourceIdentity, check_identity(op, fd))) return false;
    tree = clone_tree(fd, "", op.flags);
  }
  op.tree_fd = static_cast<std::int32_t>(opened.add(tree));
  return steps.ok(Stage::kBind, tree);
}

// Where to create something: `name` in the directory `parent`: the new root, or a directory beneath it, or an error.
struct Place {
  long parent;
  const char* name;
};

// Our own names lie in directories that we just made. We reach others without following symlinks: one to "/tmp" would
// lead to the host's, because the host's root is still our root directory.
Place place_for(const Run& run, const Op& op, Opened& opened) {
  char* target = run.at(op.target);
  char* last = nullptr;
  for (char* at = target; *at != '\0'; ++at) {
    if (*at == '/') last = at;
  }
  if ((op.flags & wire::kOpBeneath) == 0 || last == nullptr) return {AT_FDCWD, target};
  *last = '\0';
  const long parent = opened.add(open_without_symlinks(target, RESOLVE_BENEATH));
  *last = '/';
  return {parent, last + 1};
}

bool is_there(const Place& place) { return place.parent >= 0 || place.parent == AT_FDCWD; }

long create(const Place& place, std::uint32_t mode) {
  if (!is_there(place)) return place.parent;
  return sys(__NR_openat, place.parent, place.name, long{O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC},
             long{mode});
}

long make_directory(const Place& place, std::uint32_t mode) {
  if (!is_there(place)) return place.parent;
  const long made = sys(__NR_mkdirat, place.parent, place.name, long{mode});
  return made == -17 ? 0 : made;  // EEXIST
}

long make_symlink(const char* text, const Place& place) {
  return is_there(place) ? sys(__NR_symlinkat, text, place.parent, place.name) : place.parent;
}

// `mode` is applied exactly: the caller's umask must not decide what the jail looks like.
long make_file(const Place& place, std::uint32_t mode, const char* content, std::uint32_t size, Opened& opened) {
  if (!is_there(place)) return place.parent;
  if (size == 0) return sys(__NR_mknodat, place.parent, place.name, long{S_IFREG | mode}, 0L);
  const long fd = opened.add(create(place, mode));
  if (fd < 0) return fd;
  const long written = sys(__NR_write, fd, content, long{size});
  if (written == long{size}) return 0;
  return written < 0 ? written : -28;  // ENOSPC
}

// The owner names no larger file; a file that has grown since must not fill the root.
constexpr std::size_t kLargestCopy = 256 * 1024;
alignas(16) char copied[16 * 1024];

// If we cannot open the file, the tool could not have read it either.
long copy_file(const char* source, const Place& place, std::uint32_t mode, Opened& opened) {
  struct open_how how = {};
  how.flags = O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long from = opened.add(sys(__NR_openat2, long{AT_FDCWD}, source, &how, long{sizeof how}));
  if (from < 0) return 0;
  const long to = opened.add(create(place, mode));
  long result = to < 0 ? to : 0;
  for (std::size_t total = 0; result >= 0 && total < kLargestCopy;) {
    const long got = sys(__NR_read, from, copied, long{sizeof copied});
    if (got <= 0) break;  // end of file, or a read error: the tool can do without this file
    const long put = sys(__NR_write, to, copied, got);
    if (put != got) result = put < 0 ? put : -28;  // ENOSPC
    total += static_cast<std::size_t>(got);
    if (got < static_cast<long>(sizeof copied)) break;
  }
  return result;
}

long move_tree(long tree, const char* target, std::uint32_t op_flags, Opened& opened) {
  if ((op_flags & wire::kOpSystem) != 0) {
    return sys(__NR_move_mount, tree, "", long{AT_FDCWD}, target, long{MOVE_MOUNT_F_EMPTY_PATH});
  }
  const long place = opened.add(open_without_symlinks(target, RESOLVE_BENEATH));
  if (place < 0) return place;
  return sys(__NR_move_mount, tree, "", place, "", long{MOVE_MOUNT_F_EMPTY_PATH} | long{MOVE_MOUNT_T_EMPTY_PATH});
}

bool attach(const Run& run, const Op& op, long tree, Opened& opened, Steps& steps) {
  if ((op.flags & wire::kOpMakeFile) != 0) {
    const long made = make_file(place_for(run, op, opened), 0444, "", 0, opened);
    // EEXIST: the caller covers a file of ours with one of the host's.
    if (!steps.ok(Stage::kMakeFile, made == -17 ? 0 : made)) return false;
  }
  return steps.ok(Stage::kBind, move_tree(tree, run.at(op.target), op.flags, opened));
}

bool bind_inside(const Run& run, const Op& op, Opened& opened, Steps& steps) {
  long tree = 0;
  if ((op.flags & wire::kOpSystem) != 0) {
    tree = opened.add(clone_tree(AT_FDCWD, run.at(op.source), op.flags));
  } else {
    const long place = opened.add(open_without_symlinks(run.at(op.source), RESOLVE_BENEATH));
    tree = place < 0 ? place : opened.add(clone_tree(place, "", op.flags));
  }
  return steps.ok(Stage::kBind, tree) && attach(run, op, tree, opened, steps);
}

long mount_fresh(const char* type, const char* target, long flags, const char* options) {
  return sys(__NR_mount, type, target, type, flags, options);
}

// Enters the mount whose root is `fd`, unmounts it, and returns to the new root.
long detach(long fd, long root) {
  long result = sys(__NR_fchdir, fd);
  if (result >= 0) result = sys(__NR_umount2, ".", kDetach);
  const long back = sys(__NR_fchdir, root);
  return result < 0 ? result : back;
}

// The layers stand at the target already, mounted by descriptor, and are named relative to it: overlayfs takes names only
// (descriptors since Linux 6.13), and this way no name is looked up outside of them. The overlay holds the layers by
// mounts of its own, so we unmount ours: then nothing shows the tool where the layers lie.
long mount_overlay(const char* target, const char* options, Opened& opened) {
  const long root = opened.add(sys(__NR_openat, long{AT_FDCWD}, ".", long{O_PATH | O_DIRECTORY | O_CLOEXEC}, 0L));
  const long layers = opened.add(open_without_symlinks(target, RESOLVE_BENEATH));
  if (root < 0 || layers < 0) return root < 0 ? root : layers;
  long result = sys(__NR_fchdir, layers);
  if (result >= 0) result = mount_fresh("overlay", ".", MS_NOSUID | MS_NODEV, options);
  if (const long back = sys(__NR_fchdir, root); result < 0 || back < 0) return result < 0 ? result : back;
  const long mounted = opened.add(open_without_symlinks(target, RESOLVE_BENEATH));
  const long tree = mounted < 0 ? mounted : opened.add(clone_tree(mounted, "", wire::kOpNoDevices));
  if (tree < 0) return tree;
  result = detach(mounted, root);
  if (result >= 0) result = detach(layers, root);
  return result < 0 ? result : move_tree(tree, target, 0, opened);
}

bool mount_tmpfs(Run& run, const Op& op, Steps& steps) {
  const char* target = run.at(op.target);
  if (!steps.ok(Stage::kTmpfs, mount_fresh("tmpfs", target, MS_NOSUID | MS_NODEV, run.at(op.content)))) return false;
  if ((op.flags & wire::kOpReportFd) == 0) return true;
  const long fd = sys(__NR_openat, long{AT_FDCWD}, target, long{O_RDONLY | O_DIRECTORY | O_CLOEXEC}, 0L);
  run.scratch_fd = static_cast<int>(fd);
  return steps.ok(Stage::kTmpfs, fd);
}

long mask(const char* target) {
  const long hidden = sys(__NR_mount, "dev/null", target, 0L, long{MS_BIND}, 0L);
  if (hidden == -20) {  // ENOTDIR: it is one
    return mount_fresh("tmpfs", target, MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "size=4k,mode=0555");
  }
  if (hidden != -2) return hidden;
  // ENOENT: was it the source or the target? If this kernel has no such target, there is nothing to hide.
  struct statx about = {};
  const long known = sys(__NR_statx, long{AT_FDCWD}, target, long{AT_SYMLINK_NOFOLLOW}, long{STATX_TYPE}, &about);
  return known == -2 ? 0 : hidden;
}

bool apply(Run& run, Op& op, Opened& opened, Steps& steps) {
  const char* target = run.at(op.target);
  switch (op.kind) {
    case OpKind::kDirectory:
      return steps.ok(Stage::kMakeDirectory, make_directory(place_for(run, op, opened), op.mode));
    case OpKind::kFile:
      return steps.ok(Stage::kMakeFile,
                      make_file(place_for(run, op, opened), op.mode, run.at(op.content), op.content_size, opened));
    case OpKind::kCopy:
      return steps.ok(Stage::kMakeFile, copy_file(run.at(op.source), place_for(run, op, opened), op.mode, opened));
    case OpKind::kSymlink:
      return steps.ok(Stage::kMakeSymlink, make_symlink(run.at(op.source), place_for(run, op, opened)));
    case OpKind::kBind:
      return attach(run, op, op.tree_fd, opened, steps);
    case OpKind::kBindInside:
      return bind_inside(run, op, opened, steps);
    case OpKind::kTmpfs:
      return mount_tmpfs(run, op, steps);
    case OpKind::kProc:
      return steps.ok(Stage::kProc, mount_fresh("proc", target, MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, nullptr));
    case OpKind::kDevpts:
      return steps.ok(Stage::kDevpts, mount_fresh("devpts", target, MS_NOSUID | MS_NOEXEC, run.at(op.content)));
    case OpKind::kMqueue:
      return steps.ok(Stage::kMqueue, mount_fresh("mqueue", target, MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
    case OpKind::kCheckIdentity: {
      const long fd = opened.add(open_without_symlinks(target, 0));
      return steps.ok(Stage::kOpenSource, fd) && steps.ok(Stage::kSourceIdentity, check_identity(op, fd));
    }
    case OpKind::kMask:
      return steps.ok(Stage::kMask, mask(target));
    case OpKind::kOverlay:
      return steps.ok(Stage::kOverlay, mount_overlay(target, run.at(op.content), opened));
    case OpKind::kCheckText:
      return steps.ok(Stage::kLimits, check_text(run, op));
    case OpKind::kCount:
      break;
  }
  return steps.ok(Stage::kReceive, -22);  // EINVAL
}

// Lets root reach all that it chose to show; the tool owns what is made in the jail (as_another.cc). setreuid(2) with
// nothing to change only resets the file system's id to the effective id, which is not mapped in here.
long see_as_root(const Run& run) { return run.as_another ? sys(__NR_setreuid, -1L, -1L) : 0; }
long act_as_another(const Run& run) {
  if (!run.as_another) return 0;
  sys(__NR_setfsuid, long{wire::kInsideId});
  return sys(__NR_setfsuid, -1L) == long{wire::kInsideId} ? 0 : -1;  // EPERM
}

long callers_umask = 022;

}  // namespace

bool finish_wrappers_root(Run& run, Steps& steps) {
  const long umask = sys(__NR_umask, 0L);
  const bool finished = add_to_root(run, steps);
  sys(__NR_umask, umask);
  return finished;
}

void stage_root(MadeAhead& made) {
  callers_umask = sys(__NR_umask, 0L);
  made.private_mounts = sys(__NR_mount, 0L, "/", 0L, long{MS_REC} | long{MS_PRIVATE}, 0L);
  if (made.private_mounts < 0) return;
  made.new_root = mount_fresh("tmpfs", kStagingPoint, MS_NOSUID | MS_NODEV, "size=4m,mode=0755");
  if (made.new_root >= 0) made.new_root = sys(__NR_chdir, kStagingPoint);
}

bool add_to_root(Run& run, Steps& steps) {
  Op* ops = reinterpret_cast<Op*>(run.at(run.image->ops_at));
  Opened opened;
  if (!steps.ok(Stage::kUserMap, see_as_root(run))) return false;
  for (std::uint32_t i = 0; i < run.image->op_count; ++i) {
    if (ops[i].kind == OpKind::kBind && !open_source(run, ops[i], opened, steps)) return false;
  }
  if (!steps.ok(Stage::kUserMap, act_as_another(run))) return false;
  for (std::uint32_t i = 0; i < run.image->op_count; ++i) {
    if (!apply(run, ops[i], opened, steps)) return false;
  }
  opened.close_all();
  return true;
}

bool enter_root(Steps& steps) {
  struct mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (!steps.ok(Stage::kReadOnlyRoot,
                sys(__NR_mount_setattr, long{AT_FDCWD}, ".", 0L, &read_only, long{sizeof read_only}))) {
    return false;
  }
  sys(__NR_umask, callers_umask);  // the tool's, as without a jail
  // pivot_root(".", ".") stacks the old root on the new one; detaching it leaves no path back (pivot_root(2)).
  return steps.ok(Stage::kPivot, sys(__NR_pivot_root, ".", ".")) &&
         steps.ok(Stage::kPivot, sys(__NR_umount2, ".", kDetach)) && steps.ok(Stage::kPivot, sys(__NR_chdir, "/"));
}

}  // namespace sallyport::spawn::helper
