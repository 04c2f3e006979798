#include "spawn/helper/outbox.h"

#include "spawn/helper/frames.h"

namespace sallyport::spawn::helper {

using wire::FrameHeader;
using wire::FrameKind;

// Copies word by word: without a libc a plain loop copies one byte at a time.
void copy_bytes(char* to, const char* from, std::size_t size) {
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, from + at, sizeof word);
    __builtin_memcpy(to + at, &word, sizeof word);
  }
  for (; at < size; ++at) to[at] = from[at];
}

char* FrameOutbox::begin_within(std::size_t most, std::size_t room) {
  if (!fits(most, room)) return nullptr;
  if (to_ + sizeof(FrameHeader) + most > sizeof bytes_) {  // there is room, but not behind the waiting bytes
    copy_bytes(bytes_, bytes_ + from_, to_ - from_);
    to_ -= from_;
    from_ = 0;
  }
  return bytes_ + to_ + sizeof(FrameHeader);
}

void FrameOutbox::end(FrameKind kind, std::size_t size) {
  const FrameHeader header = {kind, static_cast<std::uint32_t>(size)};
  copy_bytes(bytes_ + to_, reinterpret_cast<const char*>(&header), sizeof header);
  to_ += sizeof header + size;
  if (!at_once_) return;
  if (write_whole(fd_, bytes_ + from_, to_ - from_) < 0) broken_ = true;
  from_ = to_ = 0;
}

bool FrameOutbox::put(FrameKind kind, const void* bytes, std::size_t size) {
  char* const at = begin(size);
  if (at == nullptr) return false;
  copy_bytes(at, static_cast<const char*>(bytes), size);
  end(kind, size);
  return true;
}

bool FrameOutbox::put_command(const void* bytes, std::size_t size) {
  char* const at = begin_within(size, kRoom);
  if (at == nullptr) return false;
  copy_bytes(at, static_cast<const char*>(bytes), size);
  end(FrameKind::kCommand, size);
  return true;
}

void FrameOutbox::flush() {
  while (waits()) {
    const long put = sys(__NR_write, long{fd_}, bytes_ + from_, static_cast<long>(to_ - from_));
    if (put == -4) continue;  // EINTR
    if (put == -11) return;   // EAGAIN
    if (put < 0) {
      broken_ = true;
      break;
    }
    from_ += static_cast<std::size_t>(put);
  }
  from_ = to_ = 0;
}

}  // namespace sallyport::spawn::helper
