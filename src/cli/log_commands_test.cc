#include "cli/log_commands.h"

#include <gtest/gtest.h>

namespace sallyport::cli {
namespace {

std::string filtered(std::string_view text) { return LogCommandFilter().filter(text); }

// What actions/runner does with a line, as written in ActionCommand.cs: the judge of these tests.
bool runner_obeys(std::string line) {
  if (line.find("##[") != std::string::npos || line.find("##vso[") != std::string::npos) return true;
  const std::size_t begin = line.find_first_not_of(" \t\v\f");
  if (begin == std::string::npos) return false;
  line = line.substr(begin);
  for (bool trimmed = true; trimmed;) {
    trimmed = false;
    for (const std::string_view blank : {" ", "\u00a0", "\u2003", "\u3000"}) {
      if (!line.starts_with(blank)) continue;
      line = line.substr(blank.size());
      trimmed = true;
    }
  }
  return line.starts_with("::");
}

bool obeyed(const std::string& text) {
  std::string line;
  for (const char byte : text + "\n") {
    if (byte != '\n' && byte != '\r') {
      line.push_back(byte);
      continue;
    }
    if (runner_obeys(line)) return true;
    line.clear();
  }
  return false;
}

constexpr std::string_view kCommands[] = {
    "::set-output name=a::b",  "  \t::error::x",          "text\n::add-mask::x", "text\r::group::x", "\u00a0::error::x",
    "\u2003\u00a0::error::x",  "x ##[set-env name=a;]b",  "##[error]x",          "###[error]x",      "####[error]x",
    "##vso[task.setvariable]", "a\r\n::stop-commands::t", "\f::debug::x",        ":::error::x"};

TEST(LogCommands, NoneIsLeft) {
  for (const std::string_view text : kCommands) {
    if (text.front() != ':' || text[2] != ':') {
      EXPECT_TRUE(obeyed(std::string(text))) << "positive control: " << text;
    }
    EXPECT_FALSE(obeyed(filtered(text))) << text;
  }
}

TEST(LogCommands, WhereverThePiecesAreCut) {
  for (const std::string_view text : kCommands) {
    const std::string whole = filtered(text);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      LogCommandFilter filter;
      std::string pieces = filter.filter(text.substr(0, cut));
      pieces += filter.filter(text.substr(cut));
      EXPECT_EQ(pieces, whole) << text << " at " << cut;
    }
  }
}

TEST(LogCommands, OrdinaryTextIsUntouched) {
  for (const std::string_view text : {"std::vector<int> a::b", "## Heading\n### Another\n#", "12::34", "a: b\n: c\n",
                                      "\xff\xfe raw bytes \x1b[31m", "#[derive(Debug)]"}) {
    EXPECT_EQ(filtered(text), text);
  }
}

TEST(LogCommands, ARecordReadsTheSameAndHoldsNone) {
  const std::string record = R"({"stdout":"##[error]x ###vso[ # ##"})";
  const std::string safe = without_log_commands(record);
  EXPECT_FALSE(obeyed(safe));
  EXPECT_EQ(safe.find("##"), std::string::npos);
  EXPECT_NE(safe.find(R"(#\u0023[error])"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::cli
