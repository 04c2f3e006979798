#include "core/audit/record_line.h"

#include <gtest/gtest.h>

#include "core/bytes/sha256.h"

namespace sallyport::audit {
namespace {

constexpr std::string_view kMembers =
    R"({"time":"2026-01-01T00:00:00.000000Z","kind":"intent","run":"00ff","x":[1,"}"]})";

TEST(RecordLine, HoldsItsPlaceAndTheHashOfAllBeforeIt_C33) {
  const SealedLine sealed = seal_record(7, kNoRecordBefore, kMembers);
  ASSERT_TRUE(sealed.line.ends_with("\n"));
  const std::string line = sealed.line.substr(0, sealed.line.size() - 1);
  const auto record = open_record(line);
  ASSERT_TRUE(record) << record.error();
  EXPECT_EQ(record->seq, 7U);
  EXPECT_EQ(record->prev, kNoRecordBefore);
  EXPECT_EQ(record->kind, "intent");
  EXPECT_EQ(record->run, "00ff");
  EXPECT_EQ(record->hash, sealed.hash);
  // Applies the rule of docs/audit.md by hand.
  const std::size_t tail = line.find(",\"hash\":");
  EXPECT_EQ(sealed.hash, sha256_hex(line.substr(0, tail) + "}"));
}

TEST(RecordLine, FindsEveryChangeOfAnyOfItsBytes_C33) {
  const std::string line = [] {
    std::string text = seal_record(12, kNoRecordBefore, kMembers).line;
    text.pop_back();
    return text;
  }();
  ASSERT_TRUE(open_record(line));
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (const int flip : {1, 2, 0x20, 0x80}) {
      std::string changed = line;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      EXPECT_FALSE(open_record(changed)) << at << ' ' << flip;
    }
    EXPECT_FALSE(open_record(line.substr(0, at))) << at;
    EXPECT_FALSE(open_record(line.substr(0, at) + " " + line.substr(at))) << at;
  }
}

}  // namespace
}  // namespace sallyport::audit
