// The macOS sandbox profile: what must hold of its text for every view (C40).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "jails/sandbox_exec/profile.h"
#include "posix/profile_grammar.h"

namespace sallyport::test {
namespace {

using sandbox_exec::Parameter;
using sandbox_exec::Profile;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

ViewEntry bind(const std::string& path, RepoAccess access = RepoAccess::kReadOnly, bool is_directory = true) {
  return {
      .kind = ViewKind::kBind, .target = path, .source = path, .access = access, .source_is_directory = is_directory};
}

ViewEntry mask(const std::string& path) { return {.kind = ViewKind::kMask, .target = path}; }

Profile profile_of(const std::vector<ViewEntry>& view) {
  return sandbox_exec::render({.view = view,
                               .private_dir = "/private/tmp/sallyport-run",
                               .init = "/usr/local/libexec/init",
                               .executable = "/opt/homebrew/bin/jq"});
}

std::map<std::string, std::string> parameters_of(const Profile& profile) {
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : profile.parameters) parameters[name] = value;
  return parameters;
}

std::vector<Expression> rules_of(const Profile& profile) {
  std::vector<Expression> rules;
  EXPECT_EQ(parse_profile(profile.text, rules), "");
  return rules;
}

bool has_operation(const Expression& rule, std::string_view operation) {
  return std::ranges::any_of(rule.parts, [&](const Expression& part) {
    return part.kind == Expression::Kind::kAtom && part.text == operation;
  });
}

// Every path that a filter of the rule names, with the parameters' values in place of their names. `not_in` are exceptions.
void paths_in(const Expression& part, const std::map<std::string, std::string>& parameters, std::set<std::string>& in,
              std::set<std::string>& not_in) {
  if (part.kind != Expression::Kind::kList) return;
  if (part.is_list_of("literal") || part.is_list_of("subpath")) {
    const Expression& path = part.parts[1];
    in.insert(path.is_list_of("param") ? parameters.at(path.parts[1].text) : path.text);
    return;
  }
  for (const Expression& inner : part.parts) {
    paths_in(inner, parameters, part.is_list_of("require-not") ? not_in : in, not_in);
  }
}

struct Opened {
  std::set<std::string> in;
  std::set<std::string> except;
};

// Of all rules with that verb and operation.
std::vector<Opened> rules_about(const Profile& profile, std::string_view verb, std::string_view operation) {
  std::vector<Opened> found;
  const std::map<std::string, std::string> parameters = parameters_of(profile);
  for (const Expression& rule : rules_of(profile)) {
    if (!rule.is_list_of(verb) || !has_operation(rule, operation)) continue;
    Opened& opened = found.emplace_back();
    paths_in(rule, parameters, opened.in, opened.except);
  }
  return found;
}

std::set<std::string> all_paths(const std::vector<Opened>& rules) {
  std::set<std::string> paths;
  for (const Opened& rule : rules) paths.insert(rule.in.begin(), rule.in.end());
  return paths;
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const std::vector<ViewEntry> kHostile = {bind("/src/a b\") (allow default) (\"", RepoAccess::kWritable),
                                         bind("/src/$(id)/;x\n(allow default)"), bind("/src/=W0=\\")};

TEST(SandboxProfile, IsWellFormedWhateverThePathsAre_C40) {
  for (const std::vector<ViewEntry>& view :
       {std::vector<ViewEntry>{}, {bind("/src/theirs")}, {bind("/src/theirs", RepoAccess::kWritable)}, kHostile}) {
    const Profile profile = profile_of(view);
    EXPECT_EQ(problem_in_profile(profile.text, parameters_of(profile)), "");
    EXPECT_THAT(profile.text, StartsWith("(version 1)\n(deny default"));
  }
}

// The reader of this test finds what it looks for.
TEST(SandboxProfile, IsRefusedByTheReaderWhenItIsWrong) {
  const Profile good = profile_of({bind("/src/theirs")});
  const auto parameters = parameters_of(good);
  EXPECT_EQ(problem_in_profile(good.text, parameters), "");
  EXPECT_NE(problem_in_profile(good.text + "(allow unheard-of)", parameters), "");
  EXPECT_NE(problem_in_profile(good.text + "(allow default)", parameters), "");
  EXPECT_NE(problem_in_profile(good.text + "(allow file-read* (subpath (param \"NONE\")))", parameters), "");
  EXPECT_NE(problem_in_profile(good.text + "(allow file-read*", parameters), "");
  EXPECT_NE(problem_in_profile(good.text + "(allow network-outbound (remote ip \"*:53\"))", parameters), "");
  EXPECT_EQ(problem_in_profile(good.text + "(allow network-outbound (remote ip \"localhost:8080\"))", parameters), "");
  EXPECT_NE(problem_in_profile("(version 1)(allow default)", {}), "");
}

// Paths of the caller are parameters; in the text stand only macOS's own, and none of those but devices can be written.
TEST(SandboxProfile, NamesNoPathOfTheCallerInItsText_C40) {
  const std::string without = profile_of({}).text;
  for (const std::vector<ViewEntry>& view :
       {std::vector<ViewEntry>{bind("/src/theirs", RepoAccess::kWritable)}, kHostile}) {
    const Profile profile = profile_of(view);
    for (const Parameter& parameter : profile.parameters) {
      // A directory above can be called as one of the system's is.
      EXPECT_EQ(occurrences(profile.text, parameter.value), occurrences(without, parameter.value)) << parameter.value;
    }
    for (const Opened& rule : rules_about(profile, "allow", "file-write*")) {
      for (const std::string& path : rule.in)
        EXPECT_EQ(profile.text.find("\"" + path + "\""), std::string::npos) << path;
    }
    for (const std::string& path : all_paths(rules_about(profile, "allow", "file-write-data"))) {
      EXPECT_THAT(path, StartsWith("/dev/"));
    }
  }
}

TEST(SandboxProfile, OpensForWritingWhatIsWritableAndNothingElse_C40) {
  const std::vector<ViewEntry> view = {bind("/src/theirs", RepoAccess::kWritable), bind("/srv/rules"),
                                       bind("/src/theirs/.git/hooks"),
                                       bind("/src/theirs/.git/hooks/mine", RepoAccess::kWritable)};
  const Profile profile = profile_of(view);
  const std::vector<Opened> writes = rules_about(profile, "allow", "file-write*");
  EXPECT_THAT(all_paths(writes),
              testing::UnorderedElementsAre("/src/theirs", "/src/theirs/.git/hooks/mine",
                                            "/private/tmp/sallyport-run/home", "/private/tmp/sallyport-run/tmp"));
  const auto repo = std::ranges::find_if(writes, [](const Opened& rule) { return rule.in.contains("/src/theirs"); });
  EXPECT_THAT(repo->except, testing::ElementsAre("/src/theirs/.git/hooks"));
  EXPECT_THAT(all_paths(rules_about(profile, "allow", "file-read*")),
              testing::IsSupersetOf({"/src/theirs", "/srv/rules", "/src/theirs/.git/hooks"}));
  // The control: a repo that is not writable is in no such rule.
  EXPECT_THAT(all_paths(rules_about(profile_of({bind("/src/theirs")}), "allow", "file-write*")),
              Not(Contains("/src/theirs")));
}

// If the tool could rename a directory above a rule's path, the rule would no longer match the file.
TEST(SandboxProfile, KeepsEveryNamedPathAndWhatIsAboveIt_C40) {
  const Profile profile =
      profile_of({bind("/src/deep/theirs", RepoAccess::kWritable), bind("/src/deep/theirs/.git/hooks")});
  EXPECT_THAT(all_paths(rules_about(profile, "deny", "file-write-unlink")),
              testing::IsSupersetOf({"/src", "/src/deep", "/src/deep/theirs", "/src/deep/theirs/.git",
                                     "/src/deep/theirs/.git/hooks", "/private/tmp/sallyport-run",
                                     "/private/tmp/sallyport-run/home"}));
}

TEST(SandboxProfile, ShowsNothingOfWhatIsHidden_C40) {
  const std::vector<ViewEntry> view = {bind("/src/theirs", RepoAccess::kWritable), bind("/src/theirs/secret/part"),
                                       mask("/src/theirs/secret"), mask("/work/secret")};
  const Profile profile = profile_of(view);
  for (const char* operation : {"file-read*", "file-write*", "process-exec*"}) {
    const std::vector<Opened> rules = rules_about(profile, "allow", operation);
    EXPECT_THAT(all_paths(rules), Not(Contains("/src/theirs/secret/part"))) << operation;
    const auto repo = std::ranges::find_if(rules, [](const Opened& rule) { return rule.in.contains("/src/theirs"); });
    ASSERT_NE(repo, rules.end());
    EXPECT_THAT(repo->except, testing::ElementsAre("/src/theirs/secret")) << operation;
  }
}

TEST(SandboxProfile, StartsNoProgramWhereNoneMayStart_C40) {
  ViewEntry uploads = bind("/src/theirs/uploads");
  uploads.no_exec = true;
  const Profile profile = profile_of({bind("/src/theirs"), uploads});
  const std::vector<Opened> starts = rules_about(profile, "allow", "process-exec*");
  EXPECT_THAT(all_paths(starts), Not(Contains("/src/theirs/uploads")));
  const auto repo = std::ranges::find_if(starts, [](const Opened& rule) { return rule.in.contains("/src/theirs"); });
  EXPECT_THAT(repo->except, Contains("/src/theirs/uploads"));
  EXPECT_THAT(all_paths(rules_about(profile, "allow", "file-read*")), Contains("/src/theirs/uploads"));
}

TEST(SandboxProfile, HasNoNetworkAndAShortListOfServices_C40) {
  const Profile profile = profile_of({bind("/src/theirs")});
  EXPECT_EQ(profile.text.find("network"), std::string::npos);
  EXPECT_EQ(profile.text.find(":53"), std::string::npos);
  EXPECT_EQ(profile.text.find("mDNSResponder"), std::string::npos);
  std::set<std::string> services;
  std::set<std::string> refused;
  for (const Expression& rule : rules_of(profile)) {
    if (!has_operation(rule, "mach-lookup")) continue;
    for (const Expression& part : rule.parts) {
      if (part.is_list_of("global-name")) (rule.is_list_of("allow") ? services : refused).insert(part.parts[1].text);
    }
  }
  EXPECT_THAT(services,
              testing::ElementsAre("com.apple.bsd.dirhelper", "com.apple.logd", "com.apple.system.logger",
                                   "com.apple.system.notification_center", "com.apple.system.opendirectoryd.libinfo",
                                   "com.apple.system.opendirectoryd.membership"));
  EXPECT_THAT(refused, testing::IsSupersetOf({"com.apple.SecurityServer", "com.apple.secd", "com.apple.securityd"}));
}

TEST(SandboxProfile, OpensTheProxysPortAndNoOther_C24) {
  const std::vector<ViewEntry> view = {bind("/src/theirs")};
  const Profile profile = sandbox_exec::render(
      {.view = view, .private_dir = "/private/tmp/run", .init = "/init", .executable = "/tool", .proxy_port = 40123});
  EXPECT_EQ(problem_in_profile(profile.text, parameters_of(profile)), "");
  EXPECT_EQ(occurrences(profile.text, "network"), 1);
  EXPECT_NE(profile.text.find("(allow network-outbound (remote ip \"localhost:40123\"))\n"), std::string::npos);
}

TEST(SandboxProfile, IsGivenToTheLauncherAsArguments_C5) {
  const Profile profile = profile_of({bind("/src/a b")});
  const std::vector<std::string> argv =
      sandbox_exec::render_argv("/usr/bin/sandbox-exec", profile, {"/init", "--", "x"});
  EXPECT_THAT(std::vector(argv.begin(), argv.begin() + 3),
              testing::ElementsAre("/usr/bin/sandbox-exec", "-p", profile.text));
  EXPECT_THAT(argv, Contains(testing::EndsWith("=/src/a b")));
  EXPECT_EQ(argv.back(), "x");
  EXPECT_THAT(profile.parameters, Not(IsEmpty()));
}

}  // namespace
}  // namespace sallyport::test
