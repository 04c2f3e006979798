// What only the init of a virtual machine can measure: its kernel's count of processes that ran out of memory, and its scratch.
#include <asm/statfs.h>
#include <fcntl.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

// The number behind "oom_kill " at the beginning of a line of /proc/vmstat; 0 when there is none.
class OomCounter {
 public:
  void add(const char* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) add(bytes[i]);
  }
  [[nodiscard]] std::uint64_t kills() const { return kills_; }

 private:
  static constexpr char kName[] = "oom_kill ";
  static constexpr std::size_t kLength = sizeof kName - 1;

  void add(char next) {
    if (next == '\n') {
      matched_ = 0;
      other_ = false;
    } else if (other_) {
      return;
    } else if (matched_ < kLength) {
      other_ = next != kName[matched_++];
    } else {
      kills_ = kills_ * 10 + static_cast<std::uint64_t>(next - '0');
    }
  }

  std::size_t matched_ = 0;
  bool other_ = false;
  std::uint64_t kills_ = 0;
};

std::uint64_t count_oom_kills(int vmstat) {
  static char piece[4096];
  OomCounter counter;
  for (long at = 0;;) {
    const long got = sys(__NR_pread64, long{vmstat}, piece, long{sizeof piece}, at);
    if (got <= 0) return counter.kills();
    counter.add(piece, static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace

bool look_at_scratch(const Run& run, wire::Report& seen) {
  if (!run.has(wire::kInGuest) || seen.scratch_was_full != 0) return false;
  struct statfs usage = {};
  if (sys(__NR_fstatfs, long{run.guest_scratch_fd}, &usage) < 0) return false;
  seen.scratch_bytes =
      static_cast<std::uint64_t>(usage.f_blocks - usage.f_bfree) * static_cast<std::uint64_t>(usage.f_bsize);
  seen.scratch_files = static_cast<std::uint64_t>(usage.f_files - usage.f_ffree);
  const bool full = usage.f_bfree == 0 || usage.f_ffree == 0;
  seen.scratch_was_full = full ? 1 : 0;
  return full;
}

void add_guests_facts(const Run& run, const wire::Report& seen, wire::Report& report) {
  if (!run.has(wire::kInGuest)) return;
  wire::Report last = seen;
  look_at_scratch(run, last);
  report.scratch_bytes = last.scratch_bytes;
  report.scratch_files = last.scratch_files;
  report.scratch_was_full = last.scratch_was_full;
  report.oom_kills = count_oom_kills(run.oom_counter_fd);
}

}  // namespace sallyport::spawn::helper
