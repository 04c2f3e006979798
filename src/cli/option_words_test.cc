#include "cli/option_words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "core/audit/signed_note.h"
#include "core/errors.h"
#include "jobs/lint/exceptions.h"
#include "sallyport/allowlist.h"

namespace sallyport::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OptionWords, PutTheOptionWhereTheLibraryNamesItsApi) {
  EXPECT_EQ(in_options("choose a jail, or leave `hidden` and `no_exec` out"),
            "choose a jail, or leave --hide and --noexec out");
  EXPECT_EQ(in_options("add `GitAccess::kWritable` if that is meant"), "add --writable-git if that is meant");
  EXPECT_EQ(in_options("`allowed_hosts` a.test, or `allowed_hosts` b.test"),
            "--allow-host a.test, or --allow-host b.test");
}

TEST(OptionWords, NameTheOptionWhoseValueIsInvalid) {
  for (const auto& [field, option] :
       {std::pair{"extra_read_only", "ro"}, std::pair{"extra_read_write", "rw"}, std::pair{"hidden", "hide"},
        std::pair{"no_exec", "noexec"}, std::pair{"extra_ca", "ca"}, std::pair{"allowed_hosts", "allow_host"},
        std::pair{"open_files", "nofile"}, std::pair{"env_extras", "env"}, std::pair{"stdin_source", "stdin"},
        std::pair{"cache_dir", "cache"}, std::pair{"audit", "audit"}, std::pair{"argv", "argv"},
        std::pair{"host rule", "host rule"}}) {
    SCOPED_TRACE(field);
    const Error error =
        in_options(invalid_request(field, "why `hidden` and invalid hidden: stay", "leave `hidden` out"));
    ASSERT_NE(error.as<InvalidRequest>(), nullptr);
    EXPECT_EQ(error.as<InvalidRequest>()->field, option);
    EXPECT_EQ(error.message, fmt::format("invalid {}: why `hidden` and invalid hidden: stay", option));
    EXPECT_EQ(error.hint, "leave --hide out");
    EXPECT_EQ(in_options(error).message, error.message) << "once is enough";
  }
  EXPECT_EQ(in_options("fetch: invalid extra_ca: no PEM; leave `extra_ca` out"),
            "fetch: invalid ca: no PEM; leave --ca out");
}

// What the library says in words of its own is a command to the CLI's user, to be typed as it stands.
TEST(OptionWords, PutTheCommandWhereTheLibraryHasNone) {
  for (const auto& [hint, command] : {
           std::pair{Allowlist::builtin().admit("sh -c id").error().hint, "own: sallyport run -- sh -c id"},
           std::pair{Allowlist::builtin().admit("gti").error().hint, "started: sallyport allowlist list"},
           std::pair{Allowlist::builtin().admit("go").error().hint,
                     "sallyport allowlist init go > policy.toml, then run with --policy policy.toml"},
           std::pair{audit::parse_note_key("x").error().hint, "; sallyport audit keygen makes one"},
           std::pair{jobs::parse_exceptions("x y z", "file").error().hint, "sallyport lint --rules lists them"},
       }) {
    EXPECT_THAT(hint, Not(HasSubstr("sallyport")));
    EXPECT_THAT(in_options(hint), HasSubstr(command));
    EXPECT_THAT(in_options(hint), Not(HasSubstr("`")));
  }
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
