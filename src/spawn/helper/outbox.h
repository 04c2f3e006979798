// Frames on their way out (wire/frame.h). The worker must never wait for the init, which may be waiting for the worker:
// what the pipe does not take waits here, and a caller that finds no room keeps its bytes for later.
#pragma once

#include "spawn/freestanding/sys.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn::helper {

class FrameOutbox {
 public:
  enum class Writes { kAtOnce, kWhenReady };
  // kAtOnce: put() writes each frame at once, however long that takes. kWhenReady: `fd` is non-blocking, and flush()
  // writes.
  void open(int fd, Writes writes) {
    fd_ = fd;
    at_once_ = writes == Writes::kAtOnce;
  }

  // Returns where to put the next frame's bytes, at most `most` of them; null when there is no room. end() completes
  // the frame.
  char* begin(std::size_t most) { return begin_within(most, kRoom - kReserve); }
  // Completes the frame that begin() started, with `size` bytes.
  void end(wire::FrameKind kind, std::size_t size);
  // False when there is no room.
  bool put(wire::FrameKind kind, const void* bytes, std::size_t size);
  // The same with the room that is reserved for commands, which must not wait.
  bool put_command(const void* bytes, std::size_t size);
  [[nodiscard]] bool has_room_for(std::size_t size) const { return fits(size, kRoom - kReserve); }

  [[nodiscard]] bool waits() const { return to_ > from_; }
  // Writes as much as the pipe takes now.
  void flush();
  [[nodiscard]] int fd() const { return fd_; }
  // The reader is gone; what is put in from now on is dropped.
  [[nodiscard]] bool is_broken() const { return broken_; }

 private:
  static constexpr std::size_t kRoom = 256 * 1024;
  static constexpr std::size_t kReserve = 256;

  [[nodiscard]] bool fits(std::size_t size, std::size_t room) const {
    return to_ - from_ + sizeof(wire::FrameHeader) + size <= room;
  }
  char* begin_within(std::size_t most, std::size_t room);

  int fd_;
  bool at_once_;
  bool broken_;
  std::size_t from_;
  std::size_t to_;
  alignas(16) char bytes_[kRoom];
};

void copy_bytes(char* to, const char* from, std::size_t size);

}  // namespace sallyport::spawn::helper
