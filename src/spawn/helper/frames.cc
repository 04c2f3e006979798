#include "spawn/helper/frames.h"

namespace sallyport::spawn::helper {

long write_whole(int fd, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const long put = sys(__NR_write, long{fd}, at, static_cast<long>(size));
    if (put == -4) continue;  // EINTR
    if (put < 0) return put;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return 0;
}

long write_frame(int fd, wire::FrameKind kind, const void* bytes, std::size_t size) {
  const wire::FrameHeader header = {kind, static_cast<std::uint32_t>(size)};
  const long sent = write_whole(fd, &header, sizeof header);
  return sent < 0 ? sent : write_whole(fd, bytes, size);
}

long read_whole(int fd, void* bytes, std::size_t size) {
  char* at = static_cast<char*>(bytes);
  const std::size_t wanted = size;
  while (size > 0) {
    const long got = sys(__NR_read, long{fd}, at, static_cast<long>(size));
    if (got == -4) continue;  // EINTR
    if (got <= 0) return got;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return static_cast<long>(wanted);
}

FrameReader::Got FrameReader::read_some(int fd) {
  const bool in_header = got_ < sizeof header_;
  char* const to = in_header ? reinterpret_cast<char*>(&header_) + got_ : bytes_ + (got_ - sizeof header_);
  const std::size_t room = in_header ? sizeof header_ - got_ : sizeof header_ + header_.size - got_;
  const long got = sys(__NR_read, long{fd}, to, static_cast<long>(room));
  if (got == -4 || got == -11) return Got::kPart;  // EINTR, EAGAIN
  if (got <= 0) return Got::kEnd;
  got_ += static_cast<std::size_t>(got);
  if (got_ < sizeof header_) return Got::kPart;
  if (header_.size > wire::kLargestFrame) return Got::kEnd;
  return has_frame() ? Got::kFrame : Got::kPart;
}

}  // namespace sallyport::spawn::helper
