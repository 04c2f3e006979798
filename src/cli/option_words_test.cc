#include "cli/option_words.h"

#include <gtest/gtest.h>

namespace sallyport::cli {
namespace {

TEST(OptionWords, PutTheOptionWhereTheLibraryNamesItsApi) {
  EXPECT_EQ(in_options("choose a jail, or leave `hidden` and `no_exec` out"),
            "choose a jail, or leave --hide and --noexec out");
  EXPECT_EQ(in_options("add `GitAccess::kWritable` if that is meant"), "add --writable-git if that is meant");
  EXPECT_EQ(in_options("`allowed_hosts` a.test, or `allowed_hosts` b.test"),
            "--allow-host a.test, or --allow-host b.test");
}

TEST(OptionWords, LeaveEverythingElseAlone) {
  for (const char* text :
       {"", "see what `npm config get registry` says", "`", "``", "`repo", "a repo", "`no_such_field`"}) {
    EXPECT_EQ(in_options(std::string(text)), text);
  }
}

TEST(OptionWords, ReachErrorsEventsAndDenials) {
  const Error error{.detail = InvalidRequest{.field = "jail"}, .message = "`jail`", .hint = "say `allow_unjailed`"};
  EXPECT_EQ(in_options(error).hint, "say --allow-unjailed");
  EXPECT_EQ(in_options(error).message, "`jail`") << "a message quotes what it was given";
  const Event event{.name = "n", .fields = {{"path", "`repo`"}, {"hint", "`repo`"}}};
  EXPECT_EQ(in_options(event).fields[0].second, "`repo`");
  EXPECT_EQ(in_options(event).fields[1].second, "--repo");
  const std::vector<Denial> denials =
      in_options(std::vector<Denial>{{.host = "h.test", .hint = "`allowed_hosts` h.test"}});
  EXPECT_EQ(denials.at(0).hint, "--allow-host h.test");
}

}  // namespace
}  // namespace sallyport::cli
