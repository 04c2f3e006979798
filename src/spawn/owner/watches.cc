#include "spawn/owner/watches.h"

#include <sys/statfs.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "os/tree_memory.h"

namespace sallyport::spawn {
namespace {

// How often we measure scratch while a run has a disk quota, and socket memory while the run has a limit for it. statfs
// on tmpfs costs about a microsecond, a control file a few.
constexpr std::chrono::milliseconds kDiskWatchInterval{10};
constexpr std::chrono::milliseconds kSocketWatchInterval{10};
// The kernel's own count moves on with its tick.
constexpr std::chrono::milliseconds kShortestCpuWatch{2};
// We measure memory again only when all processors together could have filled what is left, each at this many bytes per
// microsecond: about the rate at which the kernel clears pages. And measuring never takes a tenth of the time.
constexpr std::uint64_t kFilledPerMicrosecond = 4096;
constexpr std::chrono::milliseconds kShortestMemoryWatch{5};
constexpr std::chrono::milliseconds kLongestMemoryWatch{200};
constexpr int kMeasuringShare = 10;

unsigned processor_count() {
  static const unsigned processors = std::max(1U, std::thread::hardware_concurrency());  // the call opens a file
  return processors;
}

}  // namespace

std::optional<EndedBy> Watches::reached(Ended& run) {
  const Clock::time_point now = Clock::now();
  if (how_.disk_quota && run.scratch && now >= next_disk_look_) {
    next_disk_look_ = now + kDiskWatchInterval;
    if (scratch_is_full(run)) return EndedBy::kDiskQuota;
  }
  if (how_.layers && now >= next_layer_look_) {
    run.layer_full = how_.layers(LayerLook::kWhileRunning);
    next_layer_look_ = Clock::now() + kDiskWatchInterval;
    if (run.layer_full) return EndedBy::kDiskQuota;
  }
  if (how_.cpu && now >= next_cpu_look_ && cpu_is_used_up()) return EndedBy::kCpuTime;
  if (how_.sockets && now >= next_socket_look_) {
    next_socket_look_ = now + kSocketWatchInterval;
    run.socket_bytes = how_.sockets->used();
    if (run.socket_bytes > how_.sockets->limit_bytes) return EndedBy::kMemory;
  }
  if (how_.memory && run.tree && now >= next_memory_look_ && memory_is_used_up(run)) return EndedBy::kMemory;
  return std::nullopt;
}

Watches::Clock::time_point Watches::next(const Ended& run) const {
  Clock::time_point next = Clock::time_point::max();
  if (how_.disk_quota && run.scratch) next = std::min(next, next_disk_look_);
  if (how_.layers) next = std::min(next, next_layer_look_);
  if (how_.cpu) next = std::min(next, next_cpu_look_);
  if (how_.sockets) next = std::min(next, next_socket_look_);
  if (how_.memory && run.tree) next = std::min(next, next_memory_look_);
  return next;
}

bool Watches::scratch_is_full(Ended& run) const {
  struct statfs usage{};
  if (::fstatfs(run.scratch.get(), &usage) != 0) return false;
  run.scratch_used = (usage.f_blocks - usage.f_bfree) * static_cast<std::uint64_t>(usage.f_bsize);
  run.scratch_files = usage.f_files - usage.f_ffree;
  return usage.f_bfree == 0 || run.scratch_files >= scratch_files(*how_.disk_quota);
}

// Measures again only when all processors together could have used up what is left.
bool Watches::cpu_is_used_up() {
  const std::chrono::microseconds left = how_.cpu->limit - how_.cpu->used().value_or(how_.cpu->limit);
  if (left.count() <= 0) return true;
  next_cpu_look_ = Clock::now() + std::max<Clock::duration>(left / processor_count(), kShortestCpuWatch);
  return false;
}

// First the quick sum, which counts shared pages more than once; only when that is over the limit, the exact one.
bool Watches::memory_is_used_up(Ended& run) {
  constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
  const Clock::time_point began = Clock::now();
  const std::uint64_t limit = how_.memory->limit_bytes;
  const Result<pid_t> root = pid_of(run.tree.get());
  if (!root) {  // the root has ended; its report is on the way
    next_memory_look_ = began + kLongestMemoryWatch;
    return false;
  }
  std::uint64_t used = most_memory_below(*root).value_or(kUnknown);
  if (used > limit) used = memory_below(*root).value_or(kUnknown);
  if (used > limit) {
    run.memory_bytes = used;
    return true;
  }
  const Clock::time_point done = Clock::now();
  const std::chrono::microseconds to_fill((limit - used) / (kFilledPerMicrosecond * processor_count()));
  const Clock::duration least = std::max<Clock::duration>(kShortestMemoryWatch, (done - began) * kMeasuringShare);
  next_memory_look_ = done + std::max<Clock::duration>(least, std::min<Clock::duration>(to_fill, kLongestMemoryWatch));
  return false;
}

}  // namespace sallyport::spawn
