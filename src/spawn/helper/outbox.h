// Frames on their way out (wire/frame.h). The worker must never wait for the init, which may be waiting for the worker: what the pipe
// does not take waits here, and who would put more in than there is room for leaves it where it is.
#pragma once

#include "spawn/freestanding/sys.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn::helper {

class FrameOutbox {
 public:
  enum class Writes { kAtOnce, kWhenReady };
  // kAtOnce: each frame is written when it is put in, however long that takes. kWhenReady: `fd` does not wait, and flush() writes.
  void open(int fd, Writes writes) {
    fd_ = fd;
    at_once_ = writes == Writes::kAtOnce;
  }

  // Where to put the next frame's bytes, at most so many; null when there is no room. It is none before end().
  char* begin(std::size_t most) { return begin_within(most, kRoom - kReserve); }
  // The frame that was begun has so many bytes.
  void end(wire::FrameKind kind, std::size_t size);
  // False when there is no room.
  bool put(wire::FrameKind kind, const void* bytes, std::size_t size);
  // The same with the room that is kept for what must not wait behind anything.
  bool put_command(const void* bytes, std::size_t size);
  [[nodiscard]] bool has_room_for(std::size_t size) const { return fits(size, kRoom - kReserve); }

  [[nodiscard]] bool waits() const { return to_ > from_; }
  // As much as the pipe takes now.
  void flush();
  [[nodiscard]] int fd() const { return fd_; }
  // Nobody reads there any more; what is put in from now on is dropped.
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
