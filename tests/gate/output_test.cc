// Output is bounded by its cap, in the result and in our own memory (C13).
#include <sys/resource.h>

#include "gate/gate_fixture.h"
#include "support/deep.h"

namespace sallyport::test {
namespace {

constexpr std::string_view kMarker = "...[TRUNCATED]...";

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// What print_bytes writes from byte `from` to `to`.
std::string expected_bytes(std::uint64_t from, std::uint64_t to) {
  std::string bytes;
  bytes.reserve(to - from);
  for (std::uint64_t i = from; i < to; ++i) bytes.push_back(static_cast<char>('a' + i % 26));
  return bytes;
}

TEST_F(GateTest, C13_output_far_over_the_cap_costs_no_more_memory_than_twice_the_cap_and_the_tail_is_exact) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::uint64_t written = (deep() ? 4096ULL : 512ULL) << 20U;
  constexpr std::uint64_t kCap = 64ULL << 20U;
  JailedSubprocessSpec what = spec({"print_bytes", std::to_string(written)});
  what.limits.wall = std::chrono::minutes(10);
  const std::uint64_t before = peak_rss_bytes();
  const JailedSubprocessResult result = run(*gate, what, JailKind::kNone);
#if !defined(SALLYPORT_SANITIZED)
  EXPECT_LT(peak_rss_bytes() - before, 2 * kCap + (16ULL << 20U));
#else
  static_cast<void>(before);  // a sanitizer's shadow memory is not ours to bound
#endif
  EXPECT_EQ(result.stdout_stream.total_bytes, written);
  ASSERT_EQ(result.stdout_stream.bytes.size(), kCap);
  EXPECT_TRUE(result.stdout_stream.bytes.starts_with(kMarker));
  const std::uint64_t kept = kCap - kMarker.size();
  EXPECT_TRUE(result.stdout_stream.bytes.substr(kMarker.size()) == expected_bytes(written - kept, written));
}

TEST_P(EveryJailTest, C13_C18_each_stream_has_its_own_cap_and_its_own_event) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"print_bytes", "1000", "err"});
  what.limits.output = ByteCount{100};
  what.probe = "loud";
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  EXPECT_FALSE(result.stdout_stream.truncated);
  ASSERT_TRUE(result.stderr_stream.truncated);
  EXPECT_EQ(result.stderr_stream.bytes, std::string(kMarker) + expected_bytes(1000 - (100 - kMarker.size()), 1000));
  EXPECT_EQ(events_.named("subproc.stdout.truncated"),
            std::vector<std::string>{"subproc.stdout.truncated probe_name=loud stream=stderr"});
  what.limits.output = ByteCount{1000};
  EXPECT_EQ(run(*gate, what, GetParam()).stderr_stream.bytes, expected_bytes(0, 1000));
}

TEST_P(EveryJailTest, the_tap_sees_every_byte_in_order_however_small_the_cap) {
  const std::unique_ptr<Gate> gate = open_gate();
  std::string seen;
  JailedSubprocessSpec what = spec({"print_bytes", "300000"});
  what.limits.output = ByteCount{64};
  what.tap = [&seen](Stream stream, std::string_view bytes) {
    if (stream == Stream::kStdout) seen += bytes;
  };
  EXPECT_EQ(exit_code(run(*gate, what, GetParam())), 0);
  EXPECT_TRUE(seen == expected_bytes(0, 300000));
}

}  // namespace
}  // namespace sallyport::test
