#include "workspace/meter.h"

#include <fcntl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/errors.h"
#include "os/openat2.h"
#include "workspace/deleted_files.h"

namespace sallyport::workspace {
namespace {

using std::chrono::milliseconds;

// How long a walk may occupy the supervising thread at once; the next slice comes ten milliseconds later.
constexpr milliseconds kSlice{3};
// The longest time between walks without a suspicion: another program may have freed as much as the run has written.
constexpr milliseconds kLongestUnmeasured{1000};
// After a suspicion that a walk has not confirmed: another program writes to the same file system.
constexpr int kRestsFor = 3;
constexpr int kRestsForUnsuspected = 20;
constexpr milliseconds kShortestRest{20};
constexpr std::uint64_t kBlock = 512;  // unit of st_blocks on every file system (stat(2))

std::uint64_t free_bytes(int fd) {
  struct statfs info{};
  if (::fstatfs(fd, &info) != 0) return 0;
  return info.f_bfree * static_cast<std::uint64_t>(info.f_bsize);
}

std::uint64_t minus(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

bool is_over(const LayerUse& use, ByteCount quota) {
  return use.bytes > count(quota) || use.files > scratch_files(quota);
}

}  // namespace

LayerUse LayerMeter::since_before(const LayerUse& use) const {
  return {.bytes = minus(use.bytes, before_.bytes), .files = minus(use.files, before_.files)};
}

void LayerMeter::begin_run() {
  free_at_begin_ = free_bytes(root_.get());
  known_at_begin_ = known_ ? std::optional(known_->bytes) : std::nullopt;
}

LayerUse LayerMeter::with_deleted(ByteCount quota) {
  LayerUse use = known_.value_or(LayerUse{});
  if (!known_at_begin_) known_at_begin_ = use.bytes;
  const std::uint64_t missing =
      minus(minus(free_at_begin_, free_bytes(root_.get())), minus(use.bytes, *known_at_begin_));
  if (!shown_.empty() && use.bytes + missing > count(quota)) use.bytes += deleted_bytes_held(shown_);
  return use;
}

void LayerMeter::begin_walk() {
  const int fd = openat2_beneath(root_.get(), ".", O_RDONLY | O_DIRECTORY);
  counted_ = {};
  linked_.clear();
  free_at_start_ = free_bytes(root_.get());
  walk_began_ = Clock::now();
  walk_ = std::make_unique<TreeWalk>(UniqueFd(fd));
}

LayerMeter::Walked LayerMeter::walk_until(Clock::time_point end) {
  constexpr unsigned kBetweenClocks = 64;
  for (unsigned i = 1;; ++i) {
    const Result<bool> more = walk_->next();
    if (!more || !*more) {
      walk_.reset();
      walk_took_ = Clock::now() - walk_began_;
      return more ? Walked::kAll : Walked::kLost;
    }
    const struct stat& info = walk_->info();
    ++counted_.files;
    // Count a file with many names once.
    const bool known = !S_ISDIR(info.st_mode) && info.st_nlink > 1 && !linked_.insert(info.st_ino).second;
    if (!known) counted_.bytes += static_cast<std::uint64_t>(info.st_blocks) * kBlock;
    if (i % kBetweenClocks == 0 && Clock::now() >= end) return Walked::kPart;
  }
}

Result<LayerUse> LayerMeter::measure() {
  // A run that is still dying may move directories while we walk.
  constexpr int kAttempts = 8;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    begin_walk();
    if (walk_until(Clock::time_point::max()) != Walked::kAll) continue;
    known_ = since_before(counted_);
    free_then_ = free_at_start_;
    return *known_;
  }
  return fail(system_error("measure", "a layer", EAGAIN));
}

bool LayerMeter::may_be_full(ByteCount quota) {
  const LayerUse known = known_.value_or(LayerUse{});
  return !known_ || known.bytes + minus(free_then_, free_bytes(root_.get())) > count(quota);
}

std::optional<LayerUse> LayerMeter::look(ByteCount quota) {
  const Clock::time_point now = Clock::now();
  if (!walk_) {
    const bool due = now >= next_free_walk_ || (now >= next_walk_ && may_be_full(quota));
    if (!due) return std::nullopt;
    begin_walk();
  }
  const Walked walked = walk_until(now + kSlice);
  if (const LayerUse part = since_before(counted_); is_over(part, quota)) return part;
  if (walked == Walked::kPart) return std::nullopt;
  if (walked == Walked::kAll) {
    known_ = since_before(counted_);
    free_then_ = free_at_start_;
    if (const LayerUse all = with_deleted(quota); is_over(all, quota)) return all;
  }
  const Clock::time_point after = Clock::now();
  next_walk_ = after + std::max<Clock::duration>(kShortestRest, walk_took_ * kRestsFor);
  next_free_walk_ = after + std::max<Clock::duration>(kLongestUnmeasured, walk_took_ * kRestsForUnsuspected);
  return std::nullopt;
}

std::optional<LayerUse> LayerMeter::measure_at_the_end(ByteCount quota) {
  walk_.reset();
  if (!may_be_full(quota)) return std::nullopt;
  const Result<LayerUse> use = measure();
  if (!use) return LayerUse{.bytes = count(quota) + 1};  // if we cannot measure, it counts as over the quota
  return is_over(*use, quota) ? std::optional(*use) : std::nullopt;
}

}  // namespace sallyport::workspace
