#include "golden/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sallyport::golden {
namespace {

constexpr const char* kRewrite = "SALLYPORT_REWRITE_GOLDEN";

Lines read_lines(const std::filesystem::path& path) {
  Lines lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// common[i][j]: how many lines expected[i…] and actual[j…] have in common, in order.
std::vector<std::vector<std::size_t>> common_lengths(const Lines& expected, const Lines& actual) {
  std::vector<std::vector<std::size_t>> common(expected.size() + 1, std::vector<std::size_t>(actual.size() + 1));
  for (std::size_t i = expected.size(); i-- > 0;) {
    for (std::size_t j = actual.size(); j-- > 0;) {
      common[i][j] = expected[i] == actual[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

}  // namespace

std::string difference(const Lines& expected, const Lines& actual) {
  const auto common = common_lengths(expected, actual);
  std::string text;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < expected.size() || j < actual.size()) {
    if (i < expected.size() && j < actual.size() && expected[i] == actual[j]) {
      ++i;
      ++j;
    } else if (j == actual.size() || (i < expected.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += "- " + expected[i++] + "\n";
    } else {
      text += "+ " + actual[j++] + "\n";
    }
  }
  return text;
}

void expect_as_on_file(std::string_view name, const Lines& actual) {
  const std::filesystem::path path = std::filesystem::path(SALLYPORT_GOLDEN_DIR) / (std::string(name) + ".txt");
  if (std::getenv(kRewrite) != nullptr) {
    std::ofstream file(path);
    for (const std::string& line : actual) file << line << '\n';
    ASSERT_TRUE(file.flush().good()) << "cannot write " << path;
    return;
  }
  const std::string different = difference(read_lines(path), actual);
  EXPECT_TRUE(different.empty()) << path << " says something else:\n"
                                 << different << "When the new rendering is meant, start this program with " << kRewrite
                                 << "=1, read what changed in the file, and commit it.";
}

}  // namespace sallyport::golden
