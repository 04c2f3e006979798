#include "core/text/unified_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace sallyport {
namespace {

// Applies the hunks as `patch` would; nullopt when an expected line is missing.
std::optional<std::string> applied(const std::string& before, std::string_view hunks) {
  std::vector<std::string> lines;
  for (std::string_view rest = before; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    lines.emplace_back(rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
  }
  std::string out;
  std::size_t at = 0;
  while (!hunks.empty()) {
    const std::size_t end = hunks.find('\n');
    std::string line(hunks.substr(0, end + 1));
    hunks.remove_prefix(end + 1);
    if (line.starts_with("@@ -")) {
      std::size_t first = std::stoul(line.substr(4));
      const bool empty = line.substr(4, line.find(' ', 4) - 4).ends_with(",0");
      if (!empty) --first;
      while (at < first) out += lines.at(at++);
      continue;
    }
    std::string text = line.substr(1);
    if (hunks.starts_with("\\ No newline")) {
      text.pop_back();
      hunks.remove_prefix(hunks.find('\n') + 1);
    }
    if (line[0] != '+' && (at >= lines.size() || lines[at++] != text)) return std::nullopt;
    if (line[0] != '-') out += text;
  }
  while (at < lines.size()) out += lines[at++];
  return out;
}

TEST(UnifiedHunks, ShowThreeLinesAroundAChange) {
  EXPECT_EQ(unified_hunks("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nFIVE\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+FIVE\n 6\n 7\n 8\n");
}

TEST(UnifiedHunks, OfAFileThatAppearsOrVanishes) {
  EXPECT_EQ(unified_hunks("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(unified_hunks("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
}

TEST(UnifiedHunks, SayWhenALastLineHasNoEnd) {
  EXPECT_EQ(unified_hunks("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
}

TEST(UnifiedHunks, AreEmptyWhenNothingChanged) { EXPECT_EQ(unified_hunks("a\n", "a\n"), ""); }

TEST(UnifiedHunks, AreNotMadeOfBinariesNorOfTooMuch) {
  EXPECT_EQ(unified_hunks(std::string("a\0b", 3), "a"), std::nullopt);
  EXPECT_EQ(unified_hunks(std::string(kLargestDiffText + 1, 'a'), "a"), std::nullopt);
  std::string numbers;
  std::string others;
  for (int i = 0; i < 5000; ++i) {
    numbers += std::to_string(i) + "\n";
    others += std::to_string(-i - 1) + "\n";
  }
  EXPECT_EQ(unified_hunks(numbers, others), std::nullopt) << "the search is bounded";
}

TEST(UnifiedHunks, LeadFromAnyTextToAnyOther) {
  std::mt19937 random(7);  // NOLINT: the same texts in each run
  for (int round = 0; round < 2000; ++round) {
    std::string before;
    std::string after;
    for (std::string* const text : {&before, &after}) {
      const auto lines = random() % 25;
      for (unsigned i = 0; i < lines; ++i) *text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      if (random() % 4 == 0) *text += "tail";
    }
    const std::optional<std::string> hunks = unified_hunks(before, after);
    ASSERT_TRUE(hunks.has_value());
    ASSERT_EQ(applied(before, *hunks), after) << "before:\n" << before << "hunks:\n" << *hunks;
  }
}

}  // namespace
}  // namespace sallyport
