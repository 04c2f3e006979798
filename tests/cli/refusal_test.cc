// Bad input: each a clear typed error with a hint, and nothing left behind.
#include <sys/stat.h>

#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

struct BadInput {
  const char* what;
  Words args;
  const char* kind;
};

class CliRefusal : public CliTest {
 protected:
  // Both formats, the exit code, and that neither a file nor a process is left.
  void expect_refused(const BadInput& bad, const ProgramOptions& how = {}) {
    SCOPED_TRACE(bad.what);
    const auto before = everything();
    const LeakCount counts = LeakCount::of_self();
    const ProgramResult text = sallyport(bad.args, how);
    EXPECT_EQ(text.exit_code, 125);
    expect_error_with_hint(text);
    EXPECT_EQ(text.stderr_bytes.find('\x1b'), std::string::npos);
    Words with_json = bad.args;
    with_json.insert(with_json.begin() + 1, "--json");
    const nlohmann::json record = record_of(sallyport(with_json, how));
    EXPECT_EQ(record["error"]["kind"], bad.kind) << record;
    EXPECT_EQ(everything(), before);
    EXPECT_EQ(LeakCount::of_self(), counts);
  }
};

TEST_F(CliRefusal, EveryBadInputIsATypedErrorWithAHint) {
  fs::create_directory_symlink("/usr", repo_ / "way-out");
  Words huge{"run", "--", "git"};
  huge.resize(15, std::string(100'000, 'x'));
  const std::vector<BadInput> inputs = {
      {"unknown tool", {"run", "--", "bash", "-c", "id"}, "disallowed_subprocess"},
      {"path as tool", {"run", "--", "/usr/bin/git"}, "disallowed_subprocess"},
      {"relative path as tool", {"run", "--", "./git"}, "disallowed_subprocess"},
      {"empty argv", {"run", "--"}, "disallowed_subprocess"},
      {"empty name", {"run", "--", ""}, "disallowed_subprocess"},
      {"wrapper as tool", {"run", "--", "bwrap"}, "disallowed_subprocess"},
      {"escapes in the name", {"run", "--", "\x1b]0;x\x07git"}, "disallowed_subprocess"},
      {"cwd outside by symlink", {"run", "--repo", ".", "--cwd", "way-out", "--", "git"}, "invalid_request"},
      {"cwd outside", {"run", "--repo", ".", "--cwd", "/usr", "--", "git"}, "invalid_request"},
      {"cwd missing", {"run", "--cwd", "nowhere", "--", "git"}, "invalid_request"},
      {"cwd a file", {"run", "--cwd", "/etc/passwd", "--", "git"}, "invalid_request"},
      {"repo missing", {"run", "--repo", "/dev/null/absent", "--", "git"}, "invalid_request"},
      {"zero timeout", {"run", "--timeout", "0s", "--", "git"}, "invalid_request"},
      {"negative timeout", {"run", "--timeout", "-1s", "--", "git"}, "invalid_request"},
      {"absurd timeout", {"run", "--timeout", "999999h", "--", "git"}, "invalid_request"},
      {"overflowing timeout", {"run", "--timeout", "99999999999999999999h", "--", "git"}, "invalid_request"},
      {"zero output", {"run", "--max-output", "0", "--", "git"}, "invalid_request"},
      {"absurd output", {"run", "--max-output", "99999999T", "--", "git"}, "invalid_request"},
      {"zero memory", {"run", "--memory", "0", "--", "git"}, "invalid_request"},
      {"1 MiB of arguments", huge, "invalid_request"},
      {"probe name", {"run", "--probe", "Bad-Name", "--", "git"}, "invalid_probe_name"},
      {"code-loading variable", {"run", "--env", "LD_PRELOAD=/x", "--", "git"}, "invalid_request"},
      {"unknown guarantee", {"run", "--require", "net.isolatd", "--", "git"}, "invalid_request"},
      {"workspace without a name", {"workspace", "new", ""}, "invalid_request"},
      {"unknown jail", {"run", "--jail", "natvie", "--", "git"}, "invalid_request"},
  };
  for (const BadInput& input : inputs) expect_refused(input);
}

// ADR 0072: the library's hint names its API. The fixture looks for such names in all that any test prints.
TEST_F(CliRefusal, AHintSaysWhatToType) {
  ASSERT_EQ(api_name_in("leave `extra_ca` out"), "extra_ca") << "the control";
  ASSERT_EQ(api_name_in("see what `npm config get registry` says"), "") << "another program's command is no name";
  write_file(dir_ / "exceptions", "no-such-rule src why\n");
  const std::string policy = policy_.string();
  ASSERT_EQ(sallyport({"workspace", "new", "w"}).exit_code, 0);
  const std::string mark = (repo_ / "mark").string();
  const ProgramResult overlaid =
      sallyport({"run", "--jail", "native", "--policy", policy, "--workspace", "w", "--", "leave_mark", mark});
  ASSERT_EQ(overlaid.exit_code, 0) << overlaid.stderr_bytes;
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"run", "--jail", "none", "--policy", policy, "--hide", "sub", "--", "exit_with"},
       "leave --hide and --noexec out"},
      {{"explain", "--jail", "none", "--policy", policy, "--hide", "sub", "--", "exit_with"}, "leave --hide and"},
      {{"run", "--policy", (dir_ / "nowhere").string(), "--", "git"}, "as --policy"},
      {{"run", "--", "git log"}, "sallyport run -- git log"},
      {{"run", "--", "python3"}, "sallyport allowlist init python > policy.toml, then run with --policy policy.toml"},
      {{"explain", "--", "gti"}, "sallyport allowlist list"},
      {{"run", "--", "git", "-c", "no.such=key", "log"}, "sallyport allowlist show git"},
      {{"explain", "--jail", "bwrap", "--policy", policy, "--workspace", "w", "--", "exit_with"},
       "a new one with --copy"},
      {{"audit", "verify", "--dir", (dir_ / "nowhere").string()}, "--dir DIR"},
      {{"lint", "--exceptions", (dir_ / "exceptions").string()}, "sallyport lint --rules"},
  };
  for (const auto& [args, words] : cases) {
    const ProgramResult text = sallyport(args);
    EXPECT_NE(text.exit_code, 0);
    EXPECT_NE(text.stderr_bytes.find(words), std::string::npos) << text.stderr_bytes;
    Words with_json = args;
    with_json.insert(with_json.begin() + (args[0] == "audit" ? 2 : 1), "--json");
    const nlohmann::json record = record_of(sallyport(with_json));
    EXPECT_NE(record["error"]["hint"].get<std::string>().find(words), std::string::npos) << record;
  }
}

TEST_F(CliRefusal, AMissingGuaranteeIsNamed_C26) {
  // What a jail can give is known once the tool is pinned, and its hash is remembered in the user's cache by then: let
  // that be there already.
  EXPECT_EQ(sallyport({"run", "--jail", "none", "--", "git", "--version"}).exit_code, 0);
  expect_refused({"required without a jail",
                  {"run", "--jail", "none", "--require", "net.isolated", "--", "git"},
                  "guarantee_unavailable"});
  const ProgramResult result = sallyport({"run", "--jail", "none", "--require", "net.isolated", "--", "git"});
  EXPECT_NE(result.stderr_bytes.find("net.isolated"), std::string::npos) << result.stderr_bytes;
}

TEST_F(CliRefusal, AnUnreadableRepoIsATypedError) {
  const std::optional<PlainUser> user = as_plain_user();
  const fs::path locked = dir_ / "locked";
  fs::create_directories(locked);
  chmod(locked.c_str(), 0);
  expect_refused({"unreadable repo", {"run", "--repo", locked.string(), "--", "git"}, "system_error"}, {.user = user});
  chmod(locked.c_str(), 0755);
}

TEST_F(CliRefusal, APolicyInsideTheScannedRepoIsRefusedAlsoBySymlink_C3) {
  fs::copy_file(policy_, repo_ / "policy.toml");
  fs::create_symlink(repo_ / "policy.toml", dir_ / "innocent.toml");
  for (const fs::path& policy : {repo_ / "policy.toml", dir_ / "innocent.toml", fs::path("policy.toml")}) {
    expect_refused({"policy in repo",
                    {"run", "--policy", policy.string(), "--jail", "none", "--", "exit_with", "0"},
                    "policy_error"});
  }
  EXPECT_EQ(run_helper({"exit_with", "9"}).exit_code, 9);  // control: the same text elsewhere
}

// The repo is where one works; what lies beside it is not inside it. A way through a directory of the repo is.
TEST_F(CliRefusal, APolicyBesideTheRepoIsTaken) {
  fs::create_directory(repo_ / "src");
  const std::string beside = (".." / policy_.lexically_relative(dir_.path())).string();
  const ProgramResult taken = sallyport({"run", "--policy", beside, "--jail", "none", "--", "exit_with", "0"});
  EXPECT_EQ(taken.exit_code, 0) << taken.stderr_bytes;
  expect_refused({"policy by way of the repo",
                  {"run", "--policy", "src/../" + beside, "--jail", "none", "--", "exit_with", "0"},
                  "policy_error"});
}

TEST_F(CliRefusal, APolicyErrorCarriesLineAndColumn_C3) {
  write_file(policy_, "schema = \"sallyport.policy/1\"\n[[tool]]\nname = \"x\"\n");
  const ProgramResult result = sallyport({"allowlist", "check", "--policy", policy_.string()});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_NE(result.stderr_bytes.find("policy.toml:2:"), std::string::npos) << result.stderr_bytes;
}

TEST_F(CliRefusal, NoVariableAndNoFileFoundBySearchingWidensTheSet_C3) {
  for (const char* name : {"SALLYPORT_POLICY", "SALLYPORT_ALLOW"}) environment_.emplace_back(name, policy_.string());
  for (const char* name : {"repo/policy.toml", "repo/sallyport.toml", "home/policy.toml", "repo/.sallyport.toml"}) {
    fs::copy_file(policy_, dir_ / name);
  }
  EXPECT_EQ(sallyport({"run", "--jail", "none", "--", "leave_mark", (repo_ / "mark").string()}).exit_code, 125);
  EXPECT_FALSE(fs::exists(repo_ / "mark"));
  EXPECT_EQ(run_helper({"leave_mark", (repo_ / "mark").string()}).exit_code, 0);
  EXPECT_TRUE(fs::exists(repo_ / "mark"));
}

TEST_F(CliRefusal, AToolInTheRepoOrARelativeDirectoryIsNeverFound) {
  fs::copy_file(misbehave_dir() / "exit_with", repo_ / "exit_with");
  for (const std::string& path : {repo_.string(), std::string("."), std::string("::")}) {
    environment_[0].second = path;
    EXPECT_NE(run_helper({"exit_with", "9"}).exit_code, 9) << path;
  }
}

TEST_F(CliRefusal, ASlipOfTheFingersGetsASuggestion) {
  const auto hint = [&](const Words& args) { return sallyport(args).stderr_bytes; };
  EXPECT_NE(hint({"rnu", "--", "git"}).find("hint: did you mean 'run'?"), std::string::npos);
  EXPECT_NE(hint({"run", "--tmieout", "1s", "--", "git"}).find("hint: did you mean '--timeout'?"), std::string::npos);
  EXPECT_NE(hint({"run", "--", "gti", "status"}).find("did you mean 'git'?"), std::string::npos)
      << hint({"run", "gti"});
  EXPECT_NE(hint({"run", "--require", "net.isolatd", "git"}).find("did you mean 'net.isolated'?"), std::string::npos);
  EXPECT_NE(hint({"allowlist", "show", "gti"}).find("did you mean 'git'?"), std::string::npos);
}

}  // namespace
}  // namespace sallyport::test
