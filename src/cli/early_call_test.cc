#include "cli/early_call.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/call_options.h"

namespace sallyport::cli {
namespace {

using Args = std::vector<std::string>;

EarlyCall find(const Args& args) {
  std::vector<const char*> argv{"sallyport"};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  const EarlyCall call = find_early_call(static_cast<long>(argv.size()), argv.data());
  argv.push_back(nullptr);
  return call;
}

std::string tool_of(const Args& args) {
  const EarlyCall call = find(args);
  return call.tool != nullptr ? call.tool : "-";
}

TEST(EarlyCall, FindsToolAndPolicy) {
  EXPECT_EQ(tool_of({"run", "git", "status"}), "git");
  EXPECT_EQ(tool_of({"run", "--", "git", "--jail", "none"}), "git");
  EXPECT_EQ(tool_of({"run", "--json", "--timeout", "5s", "--ro=/x", "git"}), "git");
  EXPECT_EQ(tool_of({"run", "--jail", "native", "git"}), "git");
  EXPECT_EQ(tool_of({"run", "--jail=auto", "--", "git"}), "git");
  EXPECT_EQ(find({"run", "git"}).policy, nullptr);
  EXPECT_STREQ(find({"run", "--policy", "/p", "git"}).policy, "/p");
  EXPECT_STREQ(find({"run", "--policy=/p", "--", "git"}).policy, "/p");
}

TEST(EarlyCall, LeavesEverythingElseAlone) {
  const std::vector<Args> others = {
      {},
      {"run"},
      {"run", "--"},
      {"run", "--json"},
      {"explain", "git"},
      {"runs", "git"},
      {"run", "--help", "git"},
      {"run", "-h", "git"},
      {"run", "--bogus", "git"},
      {"run", "--js", "git"},
      {"run", "--json=1", "git"},
      {"run", "--policy", "--", "git"},
      {"run", "--policy=", "git"},
      {"run", "--policy", "", "git"},
      {"run", "--policy"},
      {"run", "--policy", "/p", "--policy", "/q", "git"},
      {"run", "--jail", "none", "git"},
      {"run", "--jail=bwrap", "git"},
      {"run", "--jail", "", "git"},
  };
  for (const Args& args : others) EXPECT_EQ(tool_of(args), "-") << testing::PrintToString(args);
}

// Taken for the wrong kind, an option would make its value the tool, or the tool its value.
TEST(EarlyCall, KnowsOfEveryOptionWhetherItTakesAValue) {
  for (const OptionShape& shape : kCallOptionShapes) {
    const std::string name(&shape.name[0]);
    const Args args = {"run", name, "native", "git"};
    EXPECT_EQ(tool_of(args), shape.takes_value ? "git" : "native") << name;
    const Result<std::optional<CallOptions>> real = parse_call_options(std::vector(args.begin() + 1, args.end()));
    if (real) {
      EXPECT_EQ((*real)->argv.front(), tool_of(args)) << name;
    }
  }
}

}  // namespace
}  // namespace sallyport::cli
