// Between clone and exec, or before that in the jail's init: the Landlock ruleset of a jail's root.
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/stat.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

// Landlock is the second lock behind the read-only mounts: writes only beneath the places the plan made writable.
// Any ruleset adds about 0.2 µs to an open (ADR 0017), and a right that the kernel has to look up adds much more. So
// the ruleset handles neither reads nor truncation (ABI 3): the kernel looks truncation up at every open, read-only
// ones too, which costs a tool that opens many files a quarter of its time, and truncate(2) on a read-only mount fails
// without it.
long make_landlock_ruleset(const Run& run) {
  const long abi = sys(__NR_landlock_create_ruleset, 0L, 0L, long{LANDLOCK_CREATE_RULESET_VERSION});
  if (abi < 2) return kNoLandlock;  // absent, or so old that it would forbid every rename between directories
  const std::uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                               LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                               LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                               LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                               LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
  const std::uint64_t attributes = rights;  // struct landlock_ruleset_attr of ABI 1: handled_access_fs alone
  const long ruleset = sys(__NR_landlock_create_ruleset, &attributes, long{sizeof attributes}, 0L);
  if (ruleset < 0) return ruleset;
  const auto* writable = reinterpret_cast<const std::uint64_t*>(run.at(run.image->writable_at));
  for (std::uint32_t i = 0; i < run.image->writable_count; ++i) {
    const long beneath = sys(__NR_openat, long{AT_FDCWD}, run.at(writable[i]), long{O_PATH | O_CLOEXEC}, 0L);
    if (beneath < 0) return beneath;
    struct statx about = {};
    const long known = sys(__NR_statx, beneath, "", long{AT_EMPTY_PATH}, long{STATX_TYPE}, &about);
    if (known < 0) return known;
    const bool directory = (about.stx_mode & S_IFMT) == S_IFDIR;
    const struct landlock_path_beneath_attr rule = {directory ? rights : std::uint64_t{LANDLOCK_ACCESS_FS_WRITE_FILE},
                                                    static_cast<int>(beneath)};
    const long added = sys(__NR_landlock_add_rule, ruleset, long{LANDLOCK_RULE_PATH_BENEATH}, &rule, 0L);
    if (added < 0) return added;
    sys(__NR_close, beneath);
  }
  return ruleset;
}

}  // namespace sallyport::spawn::helper
