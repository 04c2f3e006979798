// The last `cap` bytes of a stream of any length, in memory bounded by the cap (C13).
//
//   TailRing ring(cap);
//   while (ssize_t n = read(fd, ring.writable().data(), ring.writable().size())) ring.commit(n);
//   CapturedStream captured = std::move(ring).finish();
//
// The caller can read straight into the ring, so that no byte is copied twice. Storage grows with the stream, in large
// steps up to the cap; the old and the new block together touch no more memory than the cap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sallyport/jail.h"
#include "sallyport/limits.h"

namespace sallyport {

inline constexpr std::string_view kTruncationMarker = "...[TRUNCATED]...";

class TailRing {
 public:
  // Called with every block of memory before the first write to it.
  using OnNewBlock = void (*)(std::span<char>);

  // A cap of 0 counts as 1: a reader must always have room to read into.
  explicit TailRing(ByteCount cap, OnNewBlock on_new_block = nullptr);

  // Where the next bytes go: contiguous, never empty, valid until the next call of any kind. It holds the oldest kept
  // bytes; commit() replaces them.
  [[nodiscard]] std::span<char> writable();
  void commit(std::size_t count);
  void append(std::string_view bytes);

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] bool truncated() const { return total_ > cap_; }

  // At or under the cap: the bytes, untouched. Over it: the marker and the last cap - len(marker) bytes, exactly `cap`
  // in all; a cap shorter than the marker gives the marker's first `cap` bytes. Works in place.
  [[nodiscard]] CapturedStream finish() &&;

 private:
  void grow();

  std::size_t cap_;
  OnNewBlock on_new_block_;
  std::uint64_t total_ = 0;
  std::size_t next_ = 0;  // where the next byte goes
  std::string storage_;   // its size is what has been allocated so far, not what has been written
};

}  // namespace sallyport
