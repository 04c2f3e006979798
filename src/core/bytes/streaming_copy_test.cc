#include "core/bytes/streaming_copy.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport {
namespace {

std::string numbered(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 2654435761U) >> 11);
  return text;
}

// Sizes around the streaming threshold, and every alignment to a cache line, for source and target.
TEST(StreamingCopy, CopiesEveryByteAndNoOther) {
  constexpr std::size_t kMargin = 200;
  for (const std::size_t size : {0U, 1U, 63U, 4095U, 4096U, 4097U, 4160U, 9999U}) {
    const std::string source = numbered(size + 64);
    for (std::size_t offset = 0; offset < 64; ++offset) {
      std::string target(size + 2 * kMargin, '#');
      streaming_copy(target.data() + kMargin + offset, source.data() + offset / 3, size);
      std::string expected(target.size(), '#');
      expected.replace(kMargin + offset, size, source, offset / 3, size);
      ASSERT_TRUE(target == expected) << "size " << size << ", offset " << offset;
    }
  }
}

}  // namespace
}  // namespace sallyport
