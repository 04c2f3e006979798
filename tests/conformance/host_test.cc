// Hosts that give less: inside another user namespace, and with one primitive missing at a time (C26). Fails closed
// and says what is missing; each with the same call on the untouched host as its control.
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/surroundings.h"
#include "support/installed.h"
#include "support/program.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;

class Host : public testing::TestWithParam<std::string> {
 protected:
  Host() {
    // For a search path without anything else. Inside a user namespace only the one in /usr is trusted.
    fs::copy_file("/usr/bin/touch", tools_ / "touch");
    // Anybody may write there, so that a plain user's run could leave its mark too.
    fs::permissions(repo_.path(), fs::perms(0777));
    test::write_file(policy_.path() / "policy.toml", test::policy_admitting({"touch"}));
  }

  // A run that leaves a mark in the repo.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& options,
                                                 std::vector<std::string> prefix = {}, std::string verb = "run") const {
    prefix.insert(prefix.end(),
                  {test::sallyport_binary(), std::move(verb), "--policy", (policy_ / "policy.toml").native(), "--repo",
                   repo_.path().native(), "--writable-repo"});
    prefix.insert(prefix.end(), options.begin(), options.end());
    prefix.insert(prefix.end(), {"--", "touch", mark().native()});
    return prefix;
  }
  [[nodiscard]] test::Environment environment(const std::string& path) const {
    return {{"PATH", tools_.path().native() + path}};
  }
  [[nodiscard]] fs::path mark() const { return repo_ / "mark"; }
  void expect_ran(const ProgramResult& result) const {
    EXPECT_EQ(result.exit_code, 0) << result.stderr_bytes;
    EXPECT_TRUE(fs::remove(mark()));
  }
  void expect_refused(const ProgramResult& result, std::string_view naming) const {
    EXPECT_NE(result.exit_code, 0);
    EXPECT_NE(result.stderr_bytes.find(naming), std::string::npos) << result.stderr_bytes;
    EXPECT_FALSE(fs::exists(mark()));
  }

  test::TempDir repo_;
  test::TempDir tools_;
  test::TempDir policy_;
};

constexpr const char* kSystemPath = ":/usr/bin:/bin";
const std::vector<std::string> kWithoutUserNamespaces = {
    "/usr/bin/unshare", "-Ur", "/bin/sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"", "sh"};

TEST_P(Host, JailsInsideAnotherUserNamespace) {
  expect_ran(test::run_program(command({"--jail", GetParam()}, {"/usr/bin/unshare", "-Ur"}),
                               {.environment = environment(kSystemPath)}));
}

TEST_P(Host, WithoutUserNamespacesIsRefusedAndNamesTheSysctl) {
  expect_ran(test::run_program(command({"--jail", GetParam()}), {.environment = environment(kSystemPath)}));
  const ProgramResult result = test::run_program(command({"--jail", GetParam()}, kWithoutUserNamespaces),
                                                 {.environment = environment(kSystemPath)});
  expect_refused(result, GetParam() == "native" ? "max_user_namespaces" : "bwrap");
}

INSTANTIATE_TEST_SUITE_P(, Host, testing::Values("native", "bwrap"), [](const auto& test) { return test.param; });

class HostLacks : public Host {};

// Where user namespaces are off, kAuto takes the landlock jail and says what is lost; it never takes it below what is required.
class WithoutUserNamespaces : public Host {};

TEST_P(WithoutUserNamespaces, AutoTakesLandlockAndSaysWhatIsLost_C40) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const std::optional<test::PlainUser> user = GetParam() == "user" ? test::as_plain_user() : std::nullopt;
  const test::TempDir theirs(user);
  fs::copy_file(test::sallyport_binary(), theirs / "sallyport");
  const auto start = [&](const std::vector<std::string>& options, const std::string& verb,
                         const std::vector<std::string>& prefix, const std::optional<test::PlainUser>& who) {
    std::vector<std::string> argv = command(options, prefix, verb);
    argv[prefix.size()] = theirs / "sallyport";
    return test::run_program(argv, {.cwd = repo_.path(), .environment = environment(kSystemPath), .user = who});
  };
  const auto run = [&](const std::vector<std::string>& options, const std::string& verb) {
    const test::PlainUser who = user.value_or(test::PlainUser{.uid = 0, .gid = 0});
    return start(options, verb, {SALLYPORT_TEST_WITHOUT_USERNS, std::to_string(who.uid), std::to_string(who.gid)},
                 std::nullopt);
  };
  const ProgramResult control = start({}, "run", {}, user);
  expect_ran(control);
  EXPECT_EQ(control.stderr_bytes, "") << "the native jail has nothing to warn of";
  const ProgramResult result = run({}, "run");
  expect_ran(result);
  EXPECT_NE(result.stderr_bytes.find("only the jail \"landlock\" works here, which never gives proc.pid_isolated"),
            std::string::npos)
      << result.stderr_bytes;
  const ProgramResult explained = run({}, "explain");
  EXPECT_EQ(explained.exit_code, 0) << explained.stderr_bytes;
  EXPECT_NE(explained.stdout_bytes.find("landlock"), std::string::npos) << explained.stdout_bytes;
  for (const char* verb : {"explain", "run"}) {
    expect_refused(run({"--require", "proc.pid_isolated"}, verb), "proc.pid_isolated");
    expect_refused(run({"--require", "proc.pid_isolated"}, verb), "max_user_namespaces");
    expect_refused(run({"--disk", "1M"}, verb), "limit.disk");
  }
}

// A container's default filter: no namespaces, no mounts, and clone3 unknown, since no filter can read its flags.
TEST_P(WithoutUserNamespaces, NorUnderAContainersFilter_C40) {
  const std::optional<test::PlainUser> user = GetParam() == "user" ? test::as_plain_user() : std::nullopt;
  if (GetParam() == "user" && !user) GTEST_SKIP() << "needs root to become another user";
  const test::TempDir theirs(user);
  fs::copy_file(test::sallyport_binary(), theirs / "sallyport");
  fs::copy_file(SALLYPORT_TEST_CONTAINER_FILTER, theirs / "container_filter");
  const std::vector<std::string> prefix = {theirs / "container_filter"};
  const auto run = [&](const std::vector<std::string>& options) {
    std::vector<std::string> argv = command(options, prefix);
    argv[prefix.size()] = theirs / "sallyport";
    return test::run_program(argv, {.cwd = repo_.path(), .environment = environment(kSystemPath), .user = user});
  };
  for (const char* jail : {"native", "bwrap"}) expect_refused(run({"--jail", jail}), "seccomp=unconfined");
  const ProgramResult result = run({});
  expect_ran(result);
  EXPECT_NE(result.stderr_bytes.find("landlock"), std::string::npos) << result.stderr_bytes;
}

INSTANTIATE_TEST_SUITE_P(, WithoutUserNamespaces, testing::Values("root", "user"),
                         [](const auto& test) { return test.param; });

TEST_F(HostLacks, BwrapAndIsRefusedNamingIt) {
  expect_ran(test::run_program(command({"--jail", "bwrap"}), {.environment = environment(kSystemPath)}));
  expect_refused(test::run_program(command({"--jail", "bwrap"}), {.environment = environment("")}), "bwrap");
}

TEST_F(HostLacks, CgroupAccessAndRequiredMemoryLimitIsRefusedNamingIt) {
  const std::optional<test::PlainUser> user = test::as_plain_user();
  if (!user) GTEST_SKIP() << "needs root to show what a plain user lacks";
  const std::vector<std::string> options = {"--memory", "64M", "--require", "limit.memory"};
  expect_ran(test::run_program(command(options), {.environment = environment(kSystemPath)}));
  const test::TempDir theirs(user);
  fs::copy_file(test::sallyport_binary(), theirs / "sallyport");
  std::vector<std::string> argv = command(options);
  argv[0] = theirs / "sallyport";
  const ProgramResult result =
      test::run_program(argv, {.cwd = repo_.path(), .environment = environment(kSystemPath), .user = user});
  expect_refused(result, "error: cannot establish limit.memory: ");
  EXPECT_EQ(result.stderr_bytes.find("limit.memory"), result.stderr_bytes.rfind("limit.memory"))
      << "says it twice: " << result.stderr_bytes;
}

}  // namespace
}  // namespace sallyport::conformance
