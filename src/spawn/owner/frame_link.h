// The owner's end of a stream of frames (wire/frame.h), over a socket. Nothing here blocks, and the buffers are
// bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sallyport/unique_fd.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn {

class FrameLink {
 public:
  // `socket` is a stream socket; this makes it non-blocking.
  explicit FrameLink(UniqueFd socket);

  [[nodiscard]] int fd() const { return socket_.get(); }

  // Keeps the frame until the other side takes it. The caller bounds the amount: an image, a window of input, a few
  // commands.
  void send(wire::FrameKind kind, std::string_view bytes);
  void flush();
  [[nodiscard]] bool has_to_send() const { return !to_send_.empty(); }

  // Reads what has arrived, at most one frame's worth. False: nothing will follow, or the bytes are no frame.
  [[nodiscard]] bool receive();
  // The first complete frame, until forget().
  [[nodiscard]] bool has_frame() const;
  [[nodiscard]] wire::FrameKind kind() const { return header().kind; }
  [[nodiscard]] std::string_view bytes() const;
  void forget();

 private:
  [[nodiscard]] wire::FrameHeader header() const;

  UniqueFd socket_;
  std::string to_send_;
  std::string received_;
};

}  // namespace sallyport::spawn
