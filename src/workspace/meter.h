// How much a private layer holds, measured while a run writes to it: by the file system's count of free blocks all the time,
// which costs a microsecond but counts everybody's writes, and by a walk, in slices, when that says the quota may be used up
// (ADR 0058).
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
  // `root` is the layer's directory, readable. `before` is what it held before any run: of a copy, the copied files.
  // `shown` is where a jail shows it.
  LayerMeter(UniqueFd root, LayerUse before, std::filesystem::path shown = {})
      : root_(std::move(root)), before_(before), shown_(std::move(shown)) {}

  // A run begins: what the file system loses from now on may be its doing.
  void begin_run();

  // Exactly, now.
  [[nodiscard]] Result<LayerUse> measure();
  // For a moment; what is used, when that is known to be more than the quota.
  [[nodiscard]] std::optional<LayerUse> look(ByteCount quota);
  // The same at the end of a run, for as long as it takes.
  [[nodiscard]] std::optional<LayerUse> look_at_the_end(ByteCount quota);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Walked { kPart, kAll, kLost };

  [[nodiscard]] Walked walk_until(Clock::time_point end);
  [[nodiscard]] bool may_be_full(ByteCount quota);
  // What the layer holds with files that are deleted and still open, which are looked for only when blocks are missing.
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
