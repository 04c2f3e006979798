// The wording of errors, and durations and sizes as people type them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "core/errors.h"
#include "core/parse_units.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;

TEST(Units, ReadsDurationsAsPeopleTypeThem) {
  EXPECT_EQ(*parse_duration("500ms"), 500ms);
  EXPECT_EQ(*parse_duration("60s"), 60s);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("0.25m"), 15s);
  EXPECT_EQ(*parse_duration("2m"), 2min);
  EXPECT_EQ(*parse_duration("1h"), 1h);
  EXPECT_EQ(*parse_duration("0s"), 0s);
}

TEST(Units, RefusesDurationsWithAHint) {
  for (const char* text : {"", "s", "60", "-1s", "+1s", " 1s", "1 s", "1s ", "1.s", ".5s", "1.2345s", "1e3s", "1d",
                           "1S", "99999999999999999999s", "9223372036854775807h", "0x10s", "nan", "inf"}) {
    const auto duration = parse_duration(text, "timeout");
    ASSERT_FALSE(duration.has_value()) << text;
    EXPECT_EQ(duration.error().as<InvalidRequest>()->field, "timeout");
    EXPECT_FALSE(duration.error().hint.empty());
  }
}

TEST(Units, ReadsSizesInBinaryUnitsAndChecksForOverflow) {
  EXPECT_EQ(*parse_bytes("123"), ByteCount{123});
  EXPECT_EQ(*parse_bytes("512K"), ByteCount{512 << 10});
  EXPECT_EQ(*parse_bytes("64M"), mebibytes(64));
  EXPECT_EQ(*parse_bytes("64MiB"), mebibytes(64));
  EXPECT_EQ(*parse_bytes("1G"), mebibytes(1024));
  EXPECT_EQ(*parse_bytes("512MB"), mebibytes(512));
  EXPECT_EQ(*parse_bytes("512m"), mebibytes(512));
  EXPECT_EQ(*parse_bytes("0.5G"), mebibytes(512));
  EXPECT_EQ(*parse_bytes("1.5MiB"), ByteCount{3 << 19});
  EXPECT_EQ(*parse_bytes("1gib"), mebibytes(1024));
  EXPECT_EQ(*parse_bytes("7B"), ByteCount{7});
  EXPECT_EQ(*parse_bytes("18446744073709551615"), ByteCount{~0ULL});
  for (const char* text :
       {"", "M", "-1", "1.5", "1 M", "64iB", "64MBB", "0.5555G", "18446744073709551616", "17179869184G", "1X", "1.M"}) {
    EXPECT_FALSE(parse_bytes(text).has_value()) << text;
  }
}

TEST(Errors, SayWhatFailedOnWhatAndWhy) {
  EXPECT_EQ(system_error("open", "/x\n", ENOENT).message, "cannot open /x\\n: no such file or directory");
  EXPECT_EQ(system_error("open", "/x", ENOENT).as<SystemError>()->error_number, ENOENT);
  EXPECT_EQ(invalid_request("timeout", "0 is not positive", "h").message, "invalid timeout: 0 is not positive");
  EXPECT_EQ(setup_failed({.stage = SetupStage::kPivot, .error_number = EPERM}).message,
            "set-up failed at pivot_root: operation not permitted");
  EXPECT_EQ(tool_missing("jq", "apt-get install jq").hint, "install it: apt-get install jq");
  EXPECT_EQ(policy_error("p.toml", 3, 7, "unknown key 'x'").message, "invalid policy p.toml:3:7: unknown key 'x'");
  EXPECT_THAT(errno_text(123456), testing::Not(testing::IsEmpty()));
}

TEST(Errors, HaveOneStableKindEach) {
  EXPECT_EQ(error_kind(disallowed_subprocess("x", "y", "z")), "disallowed_subprocess");
  EXPECT_EQ(error_kind(invalid_probe_name("X")), "invalid_probe_name");
  EXPECT_EQ(error_kind(probe_timeout("git", 1s)), "probe_timeout");
  EXPECT_EQ(error_kind(guarantee_unavailable(Guarantee::kLimitMemory, "no cgroup")), "guarantee_unavailable");
  EXPECT_EQ(guarantee_unavailable(Guarantee::kLimitMemory, "no cgroup").message,
            "cannot establish limit.memory: no cgroup");
}

TEST(ErrorDetail, IsTakenAsTheVariantThatItIs) {
  static_assert(std::variant_size_v<ErrorDetailVariant> == 16);
  const Error error = probe_timeout("git", 1s);
  EXPECT_TRUE(std::holds_alternative<ProbeTimeoutError>(error.detail));
  EXPECT_EQ(std::get<ProbeTimeoutError>(error.detail).tool, "git");
  EXPECT_EQ(std::get_if<SystemError>(&error.detail), nullptr);
  EXPECT_EQ(error.as<ProbeTimeoutError>(), std::get_if<ProbeTimeoutError>(&error.detail));
  EXPECT_TRUE(std::visit([]<class T>(const T&) { return std::is_same_v<T, ProbeTimeoutError>; }, error.detail));
  EXPECT_EQ(error.detail.index(), ErrorDetailVariant(ProbeTimeoutError()).index());
}

}  // namespace
}  // namespace sallyport
