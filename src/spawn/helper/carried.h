// Carried connections, seen from either side (wire/carried.h): sockets on the one hand, frames on the other. Nothing waits, and neither
// side can be made to hold more than kCarriedWindow of a connection.
#pragma once

#include <sys/poll.h>

#include "spawn/helper/outbox.h"
#include "spawn/wire/carried.h"

namespace sallyport::spawn::helper {

class Carried {
 public:
  static constexpr std::uint32_t kNone = wire::kMostCarried;

  // A number that is free; kNone when there is none.
  [[nodiscard]] std::uint32_t free_id() const;
  [[nodiscard]] bool is_free(std::uint32_t id) const { return id < wire::kMostCarried && !slots_[id].in_use; }

  // Under a free number. `socket` is ours from now on; a negative one is a connection that is broken already.
  void open(std::uint32_t id, int socket);
  // One without a socket, for which so many bytes are sent and no more; what comes is kept.
  void open_kept(std::uint32_t id, std::uint32_t sent);
  // What came for a kept one, when that is all; null before. It is over with done().
  [[nodiscard]] const char* kept(std::uint32_t id, std::size_t& size) const;
  void done(std::uint32_t id) { slots_[id].shut = true; }
  // Resets it, here and on the other side.
  void reset(std::uint32_t id);

  // A frame from the other side. False: it is none that could come now.
  bool take(wire::FrameKind kind, const char* bytes, std::size_t size);

  // One entry for each number.
  void watch(struct pollfd* entries, const FrameOutbox& out) const;
  void serve(const struct pollfd* entries, FrameOutbox& out);
  // What the sockets have now is sent, as far as there is credit.
  void last_round(FrameOutbox& out);

 private:
  enum class Closing : std::uint8_t { kNot, kOrderly, kReset };

  struct Slot {
    int socket;  // -1: closed
    bool in_use;
    bool is_kept;
    bool fresh;       // something came that was not tried to be written yet
    bool read_ended;  // of our socket
    bool sent_finish;
    bool got_finish;
    bool shut;  // our socket was told that nothing follows
    bool sent_gone;
    bool got_gone;
    Closing closing;
    std::uint32_t credit;   // what we may send
    std::uint32_t granted;  // what the other side may send
    std::uint32_t owed;     // written on, and not granted again yet
    std::uint32_t first;    // in the ring
    std::uint32_t held;
  };

  [[nodiscard]] static bool wants_to_read(const Slot& slot) {
    return slot.socket >= 0 && !slot.read_ended && slot.credit > 0;
  }
  bool take_data(std::uint32_t id, const char* bytes, std::size_t size);
  bool take_gone(std::uint32_t id, bool was_reset);
  void write_on(std::uint32_t id);
  bool read_in(std::uint32_t id, FrameOutbox& out);
  void advance(std::uint32_t id, FrameOutbox& out);
  void serve_one(std::uint32_t id, int ready, FrameOutbox& out);
  void break_off(Slot& slot);

  Slot slots_[wire::kMostCarried];
  std::uint32_t turn_;
  char rings_[wire::kMostCarried][wire::kCarriedWindow];
};

}  // namespace sallyport::spawn::helper
