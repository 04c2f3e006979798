// The worker's side of carried connections (wire/carried.h): each becomes a pair of sockets, of which the owner's egress gets one.
#pragma once

#include "spawn/helper/carried.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

class CarryWorker {
 public:
  explicit CarryWorker(const Run& run) : run_(run) {}

  // Takes a frame from the init. False: such a frame is not allowed now, so the sender is no longer our init.
  bool take(wire::FrameKind kind, const char* bytes, std::size_t size);

  static constexpr std::uint32_t kWatched = 1 + wire::kMostCarried;
  // Fills kWatched entries.
  void watch(struct pollfd* entries, const FrameOutbox& out) const;
  void serve(const struct pollfd* entries, FrameOutbox& out);
  void last_round(FrameOutbox& out);

 private:
  bool open(const char* bytes, std::size_t size);
  void take_answers();

  const Run& run_;
  bool owner_answers_ = true;
  std::uint32_t last_number_ = 0;
};

}  // namespace sallyport::spawn::helper
