#include "core/bytes/tail_ring.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "core/bytes/streaming_copy.h"

namespace sallyport {
namespace {

// One full pipe's worth: small streams, which are most of them, never grow.
constexpr std::size_t kFirstBlock = 64 * 1024;
// Grow in large steps: a page that the stream never reaches costs nothing, but a page that moves costs twice.
constexpr std::size_t kGrowth = 8;

using Spare = std::array<char, 16 * 1024>;

void swap_blocks(char* a, char* b, std::size_t size, Spare& spare) {
  while (size > 0) {
    const std::size_t step = std::min(size, spare.size());
    std::memcpy(spare.data(), a, step);
    std::memcpy(a, b, step);
    std::memcpy(b, spare.data(), step);
    a += step;
    b += step;
    size -= step;
  }
}

// Gries and Mills: exchanges ever smaller blocks in place, until one of the two fits in the spare. std::rotate moves
// one byte at a time, which is several times slower for a cap of tens of megabytes.
void rotate_left(std::span<char> bytes, std::size_t by) {
  Spare spare;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  char* const middle = bytes.data() + by;
  std::size_t left = by;
  std::size_t right = bytes.size() - by;
  while (left > spare.size() && right > spare.size()) {
    if (left > right) {
      swap_blocks(middle - left, middle, right, spare);
      left -= right;
    } else {
      swap_blocks(middle - left, middle + right - left, left, spare);
      right -= left;
    }
  }
  char* const first = middle - left;
  if (left <= spare.size()) {
    std::memcpy(spare.data(), first, left);
    std::memmove(first, middle, right);
    std::memcpy(first + right, spare.data(), left);
  } else {
    std::memcpy(spare.data(), middle, right);
    std::memmove(first + right, first, left);
    std::memcpy(first, spare.data(), right);
  }
}

}  // namespace

TailRing::TailRing(ByteCount cap, OnNewBlock on_new_block)
    : cap_(std::max<std::size_t>(1, count(cap))), on_new_block_(on_new_block) {}

void TailRing::grow() {
  // After the first block, sizes are the cap divided by powers of kGrowth, so that the last step also starts from a
  // small block.
  std::size_t size = storage_.empty() ? std::min(cap_, kFirstBlock) : cap_;
  while (size / kGrowth >= kFirstBlock && size / kGrowth > storage_.size()) size /= kGrowth;
  std::string larger;
  // The new part stays unwritten: pages the stream never reaches cost nothing.
  // libstdc++ 12 passes the callback the capacity it rounded up to, so the size is our own.
  larger.resize_and_overwrite(size, [&](char* block, std::size_t) {
    if (on_new_block_ != nullptr) on_new_block_({block, size});
    streaming_copy(block, storage_.data(), storage_.size());
    return size;
  });
  storage_ = std::move(larger);
}

std::span<char> TailRing::writable() {
  if (next_ == storage_.size()) {
    if (storage_.size() < cap_) {
      grow();
    } else {
      next_ = 0;
    }
  }
  return std::span(storage_).subspan(next_);
}

void TailRing::commit(std::size_t size) {
  assert(size <= storage_.size() - next_);
  next_ += size;
  total_ += size;
}

void TailRing::append(std::string_view bytes) {
  if (bytes.size() > cap_) {
    const std::size_t passed_over = bytes.size() - cap_;
    total_ += passed_over;
    bytes.remove_prefix(passed_over);
  }
  while (!bytes.empty()) {
    const std::span<char> room = writable();
    const std::size_t step = std::min(room.size(), bytes.size());
    streaming_copy(room.data(), bytes.data(), step);
    commit(step);
    bytes.remove_prefix(step);
  }
}

CapturedStream TailRing::finish() && {
  if (truncated()) {
    const std::size_t oldest = next_ == cap_ ? 0 : next_;
    rotate_left(storage_, oldest);
    const std::string_view marker = kTruncationMarker.substr(0, std::min(cap_, kTruncationMarker.size()));
    std::memcpy(storage_.data(), marker.data(), marker.size());
  } else {
    storage_.resize(static_cast<std::size_t>(total_));
    // A short result must not keep a large block.
    if (storage_.size() < storage_.capacity() / 2) storage_.shrink_to_fit();
  }
  return {.bytes = std::exchange(storage_, {}), .truncated = truncated(), .total_bytes = total_};
}

}  // namespace sallyport
