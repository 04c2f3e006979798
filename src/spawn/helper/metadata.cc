// The mode, owner and times of files, for a tool that Landlock confines: Landlock has no right for them, so its seccomp program
// asks us (core/seccomp/shared_host.h). We find the file ourselves, once, check that it lies in a writable place, and
// change that very file; the tool's own call never runs. So the tool gains nothing by swapping files meanwhile (ADR
// 0075).
//
// We have the tool's user and no capability, so the kernel refuses us what it would refuse the tool.
#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/time_types.h>
#include <sys/stat.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/questions.h"

namespace sallyport::spawn::helper {
namespace {

constexpr long kTooLong = -36;  // ENAMETOOLONG
constexpr std::size_t kPathRoom = 4096;
constexpr std::uint32_t kSetIdBits = 06000;

// What is to be changed, and how to find the file.
struct Wish {
  enum What { kMode, kOwner, kTimes } what;
  int directory;            // the tool's descriptor, or AT_FDCWD
  std::uint64_t path;       // in the tool's memory; 0: `directory` is the file itself
  bool follow;              // a symlink at the end
  bool empty_is_directory;  // AT_EMPTY_PATH
  std::uint32_t mode, uid, gid;
  std::uint64_t times;  // in the tool's memory, or 0
};

// False for a call that we do not answer, or flags that we do not know.
bool read_flags(std::uint64_t given, Wish& wish) {
  const int flags = as_int(given);
  wish.follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;
  wish.empty_is_directory = (flags & AT_EMPTY_PATH) != 0;
  return (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) == 0;
}

long understand(const struct seccomp_data& call, Wish& wish) {
  const auto* given = call.args;
  wish = {.what = Wish::kMode,
          .directory = AT_FDCWD,
          .path = given[0],
          .follow = true,
          .empty_is_directory = false,
          .mode = 0,
          .uid = 0,
          .gid = 0,
          .times = 0};
  if (call.nr == legacy::kChmod) {
    wish.mode = as_id(given[1]);
    return wish.path == 0 ? kBadAddress : 0;
  }
  if (call.nr == legacy::kChown || call.nr == legacy::kLchown) {
    wish.what = Wish::kOwner;
    wish.follow = call.nr == legacy::kChown;
    wish.uid = as_id(given[1]);
    wish.gid = as_id(given[2]);
    return wish.path == 0 ? kBadAddress : 0;
  }
  switch (call.nr) {
    case __NR_fchmod:
      wish.directory = as_int(given[0]);
      wish.path = 0;
      wish.mode = as_id(given[1]);
      return wish.directory < 0 ? kBadDescriptor : 0;
    case __NR_fchmodat:
      wish.directory = as_int(given[0]);
      wish.path = given[1];
      wish.mode = as_id(given[2]);
      return wish.path == 0 ? kBadAddress : 0;
    case __NR_fchown:
      wish.what = Wish::kOwner;
      wish.directory = as_int(given[0]);
      wish.path = 0;
      wish.uid = as_id(given[1]);
      wish.gid = as_id(given[2]);
      return wish.directory < 0 ? kBadDescriptor : 0;
    case __NR_fchownat:
      wish.what = Wish::kOwner;
      wish.directory = as_int(given[0]);
      wish.path = given[1];
      wish.uid = as_id(given[2]);
      wish.gid = as_id(given[3]);
      if (wish.path == 0) return kBadAddress;
      return read_flags(given[4], wish) ? 0 : kInvalid;
    case __NR_utimensat:
      wish.what = Wish::kTimes;
      wish.directory = as_int(given[0]);
      wish.path = given[1];
      wish.times = given[2];
      if (wish.path == 0 && wish.directory < 0) return kBadDescriptor;
      return read_flags(given[3], wish) ? 0 : kInvalid;
    default:
      return kNoSuchCall;
  }
}

long copy_path(long memory, std::uint64_t from, char* path) {
  std::size_t have = 0;
  while (have < kPathRoom) {
    const long got = copy_in(memory, from + have, path + have, kPathRoom - have);
    if (got < 0) return got;
    for (const std::size_t end = have + static_cast<std::size_t>(got); have < end; ++have) {
      if (path[have] == '\0') return 0;
    }
  }
  return kTooLong;
}

long copy_times(long memory, std::uint64_t from, struct __kernel_timespec (&times)[2]) {
  return copy_all_in(memory, from, reinterpret_cast<char*>(&times[0]), sizeof times);
}

// libc changes the mode of a symlink's target by this name. If we opened it ourselves, it would be our own descriptor.
int descriptor_in(const char* path) {
  constexpr const char* kNames[] = {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"};
  for (const char* name : kNames) {
    const char* at = path;
    while (*name != '\0' && *at == *name) ++at, ++name;
    std::uint32_t number = 0;
    if (*name == '\0' && read_number(at, number) && *at == '\0' && number <= 0x7fffffffU)
      return static_cast<int>(number);
  }
  return -1;
}

// Returns a descriptor (O_PATH) of the file that the tool means, or a negative errno.
long open_meant(const Run& run, std::uint32_t pid, const Wish& wish, const char* path) {
  if (wish.directory < 0 && wish.directory != AT_FDCWD && path[0] != '/') return kBadDescriptor;
  const bool itself = wish.path == 0 || (path[0] == '\0' && wish.empty_is_directory);
  if (itself && wish.directory != AT_FDCWD) return open_of_tool(run, pid, "fd/", wish.directory, O_PATH);
  if (itself) return open_of_tool(run, pid, "cwd", -1, O_PATH);
  if (const int number = descriptor_in(path); number >= 0 && wish.follow) {
    return open_of_tool(run, pid, "fd/", number, O_PATH);
  }
  long directory = -1;
  if (path[0] != '/') {
    directory = wish.directory == AT_FDCWD ? open_of_tool(run, pid, "cwd", -1, O_PATH | O_DIRECTORY)
                                           : open_of_tool(run, pid, "fd/", wish.directory, O_PATH | O_DIRECTORY);
    if (directory < 0) return directory;
  }
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | (wish.follow ? 0U : O_NOFOLLOW);
  how.resolve = RESOLVE_NO_MAGICLINKS;
  const long file = sys(__NR_openat2, directory, path, &how, long{sizeof how});
  if (directory >= 0) sys(__NR_close, directory);
  return file;
}

bool is_beneath(const char* path, const char* place) {
  while (*place != '\0' && *path == *place) ++path, ++place;
  return *place == '\0' && (*path == '/' || *path == '\0');
}

char* name_of_own(char (&name)[32], long fd) {
  char* end = append_number(append_text(name, "self/fd/"), static_cast<std::uint32_t>(fd));
  *end = '\0';
  return name;
}

// Decides by the name that the kernel has for this very file now.
bool may_change(const Run& run, long file) {
  char name[32];
  char path[kPathRoom + 1];
  const long size = sys(__NR_readlinkat, long{run.proc_fd}, name_of_own(name, file), path, long{kPathRoom});
  if (size <= 0 || size >= static_cast<long>(kPathRoom)) return false;
  path[size] = '\0';
  const auto* places = reinterpret_cast<const std::uint64_t*>(run.at(run.image->writable_at));
  for (std::uint32_t i = 0; i < run.image->writable_count; ++i) {
    if (is_beneath(path, run.at(places[i]))) return true;
  }
  return false;
}

long change(const Run& run, const Wish& wish, long file, const struct __kernel_timespec* times) {
  char name[32];
  switch (wish.what) {
    case Wish::kMode:
      if ((wish.mode & kSetIdBits) != 0) return kNotPermitted;
      return sys(__NR_fchmodat, long{run.proc_fd}, name_of_own(name, file), static_cast<long>(wish.mode));
    case Wish::kOwner:
      return sys(__NR_fchownat, file, "", static_cast<long>(wish.uid), static_cast<long>(wish.gid),
                 long{AT_EMPTY_PATH});
    case Wish::kTimes:
      break;
  }
  return sys(__NR_utimensat, file, "", times, long{AT_EMPTY_PATH});
}

}  // namespace

// Reads everything from the tool before it calls `still_asks`: until that check the pid may be another process's.
long change_metadata(const Run& run, int listener, const struct seccomp_notif& about) {
  Wish wish;
  if (const long understood = understand(about.data, wish); understood < 0) return understood;
  char path[kPathRoom];
  path[0] = '\0';
  struct __kernel_timespec times[2] = {};
  if (wish.path != 0 || wish.times != 0) {
    const long memory = open_of_tool(run, about.pid, "mem", -1, O_RDONLY);
    if (memory < 0) return kNotPermitted;
    long copied = wish.path != 0 ? copy_path(memory, wish.path, path) : 0;
    if (copied >= 0 && wish.times != 0) copied = copy_times(memory, wish.times, times);
    sys(__NR_close, memory);
    if (copied < 0) return copied;
  }
  const long file = open_meant(run, about.pid, wish, path);
  if (file < 0) return file;
  long done = kNotPermitted;
  if (still_asks(listener, about.id) && may_change(run, file)) {
    done = change(run, wish, file, wish.times != 0 ? times : nullptr);
  }
  sys(__NR_close, file);
  return done;
}

}  // namespace sallyport::spawn::helper
