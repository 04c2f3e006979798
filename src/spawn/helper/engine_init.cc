#include "spawn/helper/engine_init.h"

#include <fcntl.h>

#include "sallyport/limits.h"
#include "spawn/helper/check_text.h"
#include "spawn/helper/own_facts.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn::helper {
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

// Only the first place has the byte quota. When the engine does not limit the number of files, we do.
bool EngineWatch::measure_scratch() {
  bool full = false;
  for (int i = kScratches - 1; i >= 0; --i) {
    FileSystemUse use;
    if (scratch_[i] < 0 || !measure_use(scratch_[i], use)) continue;
    bytes_ = use.bytes;
    files_ = use.files;
    full = full || (i == 0 && use.no_byte_left) || use.no_file_left || files_ >= scratch_files(ByteCount{use.size});
  }
  return full;
}

bool EngineWatch::scratch_just_filled() {
  if (full_ || !measure_scratch()) return false;
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
  report.oom_kills = oom_counter_ < 0 ? 0 : read_oom_kills(oom_counter_);
}

}  // namespace sallyport::spawn::helper
