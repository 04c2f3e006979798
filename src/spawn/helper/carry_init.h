// The init's side of carried connections (wire/carried.h): it listens at the addresses that the owner gives to names,
// and takes DNS questions. It answers nothing itself.
#pragma once

#include "spawn/helper/carried.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

class CarryInit {
 public:
  // Call before the tool starts. 0 or a negative errno; also 0 when the image wants nothing carried.
  long open(const Run& run, int to_worker);
  [[nodiscard]] bool is_open() const { return listeners_ > 0; }

  // Takes a frame from the worker. False: such a frame is not allowed now.
  bool take(wire::FrameKind kind, const char* bytes, std::size_t size);

  static constexpr std::uint32_t kWatched = 2 + wire::kMostCarried;
  // Fills kWatched entries.
  void watch(struct pollfd* entries) const;
  void serve(const struct pollfd* entries);
  // Call when the tool is dead: passes on what it sent before.
  void last_round();

 private:
  struct Asker {
    bool waits;
    std::uint32_t address;
    std::uint16_t port;
  };
  // Fewer than the owner answers at once, so that no connection waits for the questions.
  static constexpr std::uint32_t kMostAskers = 16;

  long listen_at(std::uint32_t address, std::uint16_t port);
  bool accept_one(int listener);
  void accept_all();
  void take_question();
  void answer();

  int listeners_;  // an epoll; 0: nothing is carried
  int questions_;  // datagrams
  std::uint32_t asking_;
  Asker askers_[wire::kMostCarried];  // by the connection's number
  Carried carried_;
  FrameOutbox out_;
};

}  // namespace sallyport::spawn::helper
