// The init's side of carried connections (wire/carried.h): it listens at the addresses that the owner gives to names, and for questions
// for names. It answers nothing itself.
#pragma once

#include "spawn/helper/carried.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

class CarryInit {
 public:
  // Before the tool starts. 0 or a negative errno; also 0 when the image wants nothing carried.
  long open(const Run& run, int to_worker);
  [[nodiscard]] bool is_open() const { return listeners_ > 0; }

  // A frame of the worker's. False: it is none that could come now.
  bool take(wire::FrameKind kind, const char* bytes, std::size_t size);

  static constexpr std::uint32_t kWatched = 2 + wire::kMostCarried;
  // So many entries.
  void watch(struct pollfd* entries) const;
  void serve(const struct pollfd* entries);
  // When the tool is dead: what it sent before.
  void last_round();

 private:
  struct Asker {
    bool waits;
    std::uint32_t address;
    std::uint16_t port;
  };
  // Fewer than the owner answers at once, so that nobody's connection waits for them.
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
