#include "spawn/helper/engine_init.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <time.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/check_text.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn::helper {
namespace {

// The number behind "oom_kill " at the begin of a line; 0 when there is none.
std::uint32_t oom_kills_in(const char* text) {
  constexpr char kKey[] = "oom_kill ";
  for (const char* line = text; *line != '\0';) {
    const char* at = line;
    const char* key = &kKey[0];
    while (*key != '\0' && *at == *key) {
      ++at;
      ++key;
    }
    std::uint32_t count = 0;
    if (*key == '\0' && read_number(at, count)) return count;
    while (*line != '\0' && *line != '\n') ++line;
    if (*line == '\n') ++line;
  }
  return 0;
}

}  // namespace

long EngineWatch::now_ms() {
  struct __kernel_timespec now = {};
  sys(__NR_clock_gettime, long{CLOCK_MONOTONIC}, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void EngineWatch::open() {
  constexpr const char* kPlaces[] = {"/tmp", "/var/tmp", "/dev/shm"};
  for (int i = 0; i < kScratches; ++i) {
    const long flags = long{O_PATH | O_DIRECTORY | O_CLOEXEC};
    scratch_[i] = static_cast<int>(sys(__NR_openat, long{AT_FDCWD}, kPlaces[i], flags, 0L));
  }
  oom_counter_ =
      static_cast<int>(open_either("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"));
  full_ = false;
  heard();
}

bool EngineWatch::owner_is_silent() const { return now_ms() - last_heard_ms_ > wire::kSilentAtMostMs; }

// The quota is that of the first. An engine that bounds no number of files leaves that to us, as limits.h counts them.
bool EngineWatch::look_at_scratch() {
  constexpr std::uint64_t kFewest = 1024;
  constexpr std::uint64_t kBytesOfFile = 1024;
  bool full = false;
  for (int i = kScratches - 1; i >= 0; --i) {
    struct statfs usage = {};
    if (scratch_[i] < 0 || sys(__NR_fstatfs, long{scratch_[i]}, &usage) < 0) continue;
    const std::uint64_t block = static_cast<std::uint64_t>(usage.f_bsize);
    const std::uint64_t most = usage.f_blocks * block / kBytesOfFile;
    bytes_ = (usage.f_blocks - usage.f_bfree) * block;
    files_ = usage.f_files - usage.f_ffree;
    full = full || (i == 0 && usage.f_bfree == 0) || usage.f_ffree == 0 || files_ >= (most > kFewest ? most : kFewest);
  }
  return full;
}

bool EngineWatch::scratch_just_filled() {
  if (full_ || !look_at_scratch()) return false;
  full_ = true;
  return true;
}

void EngineWatch::put_findings(wire::Report& report) {
  static_cast<void>(scratch_just_filled());
  if (full_) {
    report.scratch_was_full = 1;
    report.scratch_bytes = bytes_;
    report.scratch_files = files_;
  }
  char text[512];
  const long got = oom_counter_ < 0 ? 0 : sys(__NR_pread64, long{oom_counter_}, text, long{sizeof text - 1}, 0L);
  text[got > 0 ? got : 0] = '\0';
  report.oom_kills = oom_kills_in(text);
}

}  // namespace sallyport::spawn::helper
