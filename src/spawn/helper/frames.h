// Reads and writes frames (wire/frame.h).
#pragma once

#include "spawn/freestanding/sys.h"
#include "spawn/wire/frame.h"

namespace sallyport::spawn::helper {

// Writes all of it, in as many calls as the kernel needs; a negative errno when the reader is gone.
long write_whole(int fd, const void* bytes, std::size_t size);
long write_frame(int fd, wire::FrameKind kind, const void* bytes, std::size_t size);
// Reads all of it. Otherwise returns what read(2) returned last: 0 at the end of the stream.
long read_whole(int fd, void* bytes, std::size_t size);

// Reads one frame after the other, as they arrive.
class FrameReader {
 public:
  enum class Got { kPart, kFrame, kEnd };  // kEnd: also for a frame that is too large, or an error
  // Reads once. After kFrame the frame stays until forget().
  Got read_some(int fd);
  void forget() { got_ = 0; }
  [[nodiscard]] bool has_frame() const { return got_ >= sizeof header_ && got_ == sizeof header_ + header_.size; }

  [[nodiscard]] wire::FrameKind kind() const { return header_.kind; }
  [[nodiscard]] std::uint32_t size() const { return header_.size; }
  [[nodiscard]] const char* bytes() const { return bytes_; }

 private:
  wire::FrameHeader header_;
  std::size_t got_;
  alignas(16) char bytes_[wire::kLargestFrame];
};

}  // namespace sallyport::spawn::helper
