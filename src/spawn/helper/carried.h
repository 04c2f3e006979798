// Carried connections (wire/carried.h), the same code for both sides: it moves bytes between sockets and frames. It
// never blocks, and neither side can be made to hold more than kCarriedWindow of a connection.
#pragma once

#include <sys/poll.h>

#include "spawn/helper/outbox.h"
#include "spawn/wire/carried.h"

namespace sallyport::spawn::helper {

class Carried {
 public:
  static constexpr std::uint32_t kNone = wire::kMostCarried;

  // A free number; kNone when there is none.
  [[nodiscard]] std::uint32_t free_id() const;
  [[nodiscard]] bool is_free(std::uint32_t id) const { return id < wire::kMostCarried && !slots_[id].in_use; }

  // `id` is free. Takes ownership of `socket`; a negative one means that the connection is broken already.
  void open(std::uint32_t id, int socket);
  // Opens a connection without a socket: it sends `sent` bytes and no more, and keeps what it receives.
  void open_kept(std::uint32_t id, std::uint32_t sent);
  // What a kept connection received, once it is complete; null before that. done() ends the connection.
  [[nodiscard]] const char* kept(std::uint32_t id, std::size_t& size) const;
  void done(std::uint32_t id) { slots_[id].shut = true; }
  // Resets it, here and on the other side.
  void reset(std::uint32_t id);

  // Takes a frame from the other side. False: such a frame is not allowed now.
  bool take(wire::FrameKind kind, const char* bytes, std::size_t size);

  // One entry for each number.
  void watch(struct pollfd* entries, const FrameOutbox& out) const;
  void serve(const struct pollfd* entries, FrameOutbox& out);
  // Sends what the sockets hold now, as far as the credit goes.
  void last_round(FrameOutbox& out);

 private:
  enum class Closing : std::uint8_t { kNot, kOrderly, kReset };

  struct Slot {
    int socket;  // -1: closed
    bool in_use;
    bool is_kept;
    bool fresh;       // bytes came that we have not tried to write yet
    bool read_ended;  // of our socket
    bool sent_finish;
    bool got_finish;
    bool shut;  // we half-closed our socket: nothing follows
    bool sent_gone;
    bool got_gone;
    Closing closing;
    std::uint32_t credit;   // what we may send
    std::uint32_t granted;  // what the other side may send
    std::uint32_t owed;     // written to the socket, and not yet granted again
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
