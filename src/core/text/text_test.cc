// printable, UTF-8, base64, SHA-256, units, did-you-mean and the wording of errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <cerrno>

#include "core/bytes/base64.h"
#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"
#include "core/text/units.h"
#include "core/text/utf8.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(Printable, KeepsOrdinaryTextAndEscapesWhatSteersATerminalOrAReader) {
  EXPECT_EQ(printable("grüße, 世界 / a\\b"), "grüße, 世界 / a\\b");
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\r");
  EXPECT_EQ(printable("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
  EXPECT_EQ(printable("\u202Eevil\u2066"), "\\u{202e}evil\\u{2066}");
  EXPECT_EQ(printable("\u009b31m\u200b"), "\\u{009b}31m\\u{200b}");
  EXPECT_EQ(printable("nul\0x"s), "nul\\x00x");
}

RC_GTEST_PROP(Printable, GivesOneLineOfValidUtf8AndChangesItNoFurther, (const std::string& bytes)) {
  const std::string shown = printable(bytes);
  RC_ASSERT(is_valid_utf8(shown));
  for (const char c : shown) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20U && c != '\x7f');
  RC_ASSERT(printable(shown) == shown);
}

TEST(Utf8, RefusesOverlongSurrogateTruncatedAndTooLargeForms) {
  for (const char* text : {"", "plain ascii, long enough for words", "é", "€", "😀", "\U0010FFFF"}) {
    EXPECT_TRUE(is_valid_utf8(text)) << text;
  }
  for (const char* text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "\xe2\x82", "12345678\xff", "\xc3("}) {
    EXPECT_FALSE(is_valid_utf8(text)) << printable(text);
  }
}

TEST(Base64, FollowsTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Sha256, FollowsThePublishedVectorsWholeAndInPieces) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 hasher;
  hasher.update("a");
  hasher.update("bc");
  EXPECT_EQ(std::move(hasher).hex(), sha256_hex("abc"));
  EXPECT_TRUE(is_sha256_hex(sha256_hex("")));
  EXPECT_FALSE(is_sha256_hex(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256_hex(std::string(63, 'a')));
}

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

TEST(Units, WritesDurationsAndSizesForPeople) {
  EXPECT_EQ(format_duration(850us), "850 us");
  EXPECT_EQ(format_duration(12'300us), "12.3 ms");
  EXPECT_EQ(format_duration(1500ms), "1.50 s");
  EXPECT_EQ(format_duration(125s), "2 min 5 s");
  EXPECT_EQ(format_duration(2h + 3min), "2 h 3 min");
  EXPECT_EQ(format_bytes(ByteCount{999}), "999 B");
  EXPECT_EQ(format_bytes(ByteCount{1536}), "1.5 KiB");
  EXPECT_EQ(format_bytes(mebibytes(64)), "64 MiB");
}

TEST(DidYouMean, FindsSlipsAndNothingElse) {
  const std::vector<std::string_view> names = {"run", "explain", "doctor", "allowlist", "rg", "git"};
  EXPECT_EQ(nearest("rnu", names), "run");
  EXPECT_EQ(nearest("explian", names), "explain");
  EXPECT_EQ(nearest("alowlist", names), "allowlist");
  EXPECT_EQ(nearest("gti", names), "git");
  EXPECT_EQ(nearest("zzz", names), std::nullopt);
  EXPECT_EQ(nearest("x", names), std::nullopt);
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'a'), names), std::nullopt);
  EXPECT_EQ(did_you_mean("docter", names), "did you mean 'doctor'?");
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
