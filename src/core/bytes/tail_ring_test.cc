#include "core/bytes/tail_ring.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

namespace sallyport {
namespace {

// A plain implementation of C13.
std::string expected_bytes(const std::string& all, std::size_t cap) {
  if (all.size() <= cap) return all;
  const std::string marker(kTruncationMarker.substr(0, std::min(cap, kTruncationMarker.size())));
  return marker + all.substr(all.size() - (cap - marker.size()));
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 2654435761U) >> 13);
  return text;
}

CapturedStream capture(const std::string& all, std::size_t cap, std::size_t step) {
  TailRing ring(ByteCount{cap});
  for (std::size_t at = 0; at < all.size();) {
    const std::span<char> room = ring.writable();
    const std::size_t size = std::min({room.size(), step, all.size() - at});
    std::copy_n(all.data() + at, size, room.data());
    ring.commit(size);
    at += size;
  }
  return std::move(ring).finish();
}

TEST(TailRing, KeepsWhatFitsUntouched_C13) {
  for (const std::size_t size : {0U, 1U, 99U, 100U}) {
    const CapturedStream stream = capture(pattern(size), 100, 7);
    EXPECT_EQ(stream.bytes, pattern(size));
    EXPECT_FALSE(stream.truncated);
    EXPECT_EQ(stream.total_bytes, size);
  }
}

TEST(TailRing, PutsTheMarkerBeforeTheTailWhenOverTheCap_C13) {
  const CapturedStream stream = capture("0123456789abcdefghijklmnop", 20, 26);
  EXPECT_EQ(stream.bytes, "...[TRUNCATED]...nop");
  EXPECT_EQ(stream.bytes.size(), 20U);
  EXPECT_TRUE(stream.truncated);
  EXPECT_EQ(stream.total_bytes, 26U);
}

TEST(TailRing, CutsTheMarkerToACapThatIsShorter_C13) {
  EXPECT_EQ(capture("0123456789", 5, 10).bytes, "...[T");
  EXPECT_EQ(capture("0123456789", 0, 10).bytes, ".");
}

CapturedStream capture_by_append(const std::string& all, std::size_t cap, std::size_t step) {
  TailRing ring(ByteCount{cap});
  for (std::size_t at = 0; at < all.size(); at += step) ring.append(std::string_view(all).substr(at, step));
  return std::move(ring).finish();
}

// Sizes around the first block, the steps of growth and the in-place rotation's spare.
TEST(TailRing, IsExactAcrossGrowthAndWrapAround_C13) {
  for (const std::size_t cap : {65'535U, 65'536U, 65'537U, 200'000U, 262'144U, 1'000'003U}) {
    for (const std::size_t extra : {0U, 1U, 17U, 16'384U, 16'385U, 70'001U, 199'999U, 2'345'678U}) {
      const std::string all = pattern(cap + extra);
      const CapturedStream stream = capture(all, cap, 65'536);
      EXPECT_TRUE(stream.bytes == expected_bytes(all, cap)) << cap << " " << extra;
      EXPECT_EQ(stream.truncated, extra > 0);
      for (const std::size_t step : {9'999U, 262'144U, 1'500'000U}) {
        const CapturedStream appended = capture_by_append(all, cap, step);
        EXPECT_TRUE(appended.bytes == stream.bytes) << cap << " " << extra << " by " << step;
        EXPECT_EQ(appended.total_bytes, stream.total_bytes);
      }
    }
  }
}

TEST(TailRing, ReportsEveryBlockBeforeItWritesToIt) {
  static int blocks;
  blocks = 0;
  TailRing ring(mebibytes(1), [](std::span<char> block) {
    ++blocks;
    EXPECT_GE(block.size(), 64U << 10);
    std::ranges::fill(block, '!');  // would destroy what was copied before
  });
  const std::string all = pattern(1U << 20);
  for (std::size_t at = 0; at < all.size(); at += 4096) ring.append(std::string_view(all).substr(at, 4096));
  EXPECT_TRUE(std::move(ring).finish().bytes == all);
  EXPECT_GE(blocks, 2);
}

TEST(TailRing, AllocatesNoMoreThanTheStreamNeedsAndNeverMoreThanTheCap_C13) {
  EXPECT_LE(capture("short", 64U << 20, 100).bytes.capacity(), 64U);
  TailRing ring(mebibytes(64));
  EXPECT_LE(ring.writable().size(), 128U << 10) << "the first block is small";
  const std::string chunk(1U << 20, 'x');
  for (int i = 0; i < 200; ++i) ring.append(chunk);
  const CapturedStream stream = std::move(ring).finish();
  EXPECT_EQ(stream.bytes.size(), 64U << 20);
  EXPECT_LE(stream.bytes.capacity(), (64U << 20) + 4096);
}

RC_GTEST_PROP(TailRing, LengthTailMarkerAndIdentityHoldForAnyChunking_C13, ()) {
  const auto cap = *rc::gen::inRange<std::size_t>(1, 300);
  const auto chunks = *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  TailRing ring(ByteCount{cap});
  std::string all;
  for (const std::string& chunk : chunks) {
    ring.append(chunk);
    all += chunk;
  }
  const CapturedStream stream = std::move(ring).finish();
  RC_ASSERT(stream.bytes == expected_bytes(all, cap));
  RC_ASSERT(stream.truncated == (all.size() > cap));
  RC_ASSERT(stream.total_bytes == all.size());
  RC_CLASSIFY(stream.truncated);
}

}  // namespace
}  // namespace sallyport
