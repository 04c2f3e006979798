// How much a private layer holds, measured while a run writes to it: continuously by the file system's count of free
// blocks, which costs a microsecond but includes other programs' writes; and by a walk, in slices, when that count says
// that the quota may be used up (ADR 0058).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_set>

#include "sallyport/limits.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"
#include "workspace/tree_walk.h"

namespace sallyport::workspace {

struct LayerUse {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};

class LayerMeter {
 public:
  // `root` is the layer's directory, readable. `before` is its content before any run: in a copy, the copied files.
  // `shown` is its path in a jail.
  LayerMeter(UniqueFd root, LayerUse before, std::filesystem::path shown = {})
      : root_(std::move(root)), before_(before), shown_(std::move(shown)) {}

  // Call when a run begins: from now on it may be the cause of lost free blocks.
  void begin_run();

  // Measures exactly, now.
  [[nodiscard]] Result<LayerUse> measure();
  // Measures for a moment. Returns the use when it is known to exceed the quota.
  [[nodiscard]] std::optional<LayerUse> look(ByteCount quota);
  // The same at the end of a run, for as long as it takes.
  [[nodiscard]] std::optional<LayerUse> measure_at_the_end(ByteCount quota);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Walked { kPart, kAll, kLost };

  [[nodiscard]] Walked walk_until(Clock::time_point end);
  [[nodiscard]] bool may_be_full(ByteCount quota);
  // The layer's use including deleted files that are still open; it searches for those only when blocks are missing.
  [[nodiscard]] LayerUse with_deleted(ByteCount quota);
  [[nodiscard]] LayerUse since_before(const LayerUse& use) const;
  void begin_walk();

  UniqueFd root_;
  const LayerUse before_;
  const std::filesystem::path shown_;
  std::uint64_t free_at_begin_ = 0;
  std::optional<std::uint64_t> known_at_begin_{};
  std::optional<LayerUse> known_;  // by the last whole walk
  std::uint64_t free_then_ = 0;    // blocks of the file system, in bytes, at that walk's start
  std::unique_ptr<TreeWalk> walk_;
  LayerUse counted_{};  // by the walk under way
  std::unordered_set<ino_t> linked_;
  std::uint64_t free_at_start_ = 0;
  Clock::time_point walk_began_{};
  Clock::duration walk_took_{};
  Clock::time_point next_walk_{};
  Clock::time_point next_free_walk_{};
};

}  // namespace sallyport::workspace
