// A run that may reach no host says so at once and by name, instead of letting its tool wait (C24).
#include <gtest/gtest.h>
#include <signal.h>

#include "egress/egress_fixture.h"
#include "egress/server.h"
#include "sallyport/gate.h"
#include "support/installed.h"

namespace sallyport::test {
namespace {

constexpr std::string_view kNoHost = "no host is allowed";

Words python_that(const std::string& code) { return {"python3", "-c", "import socket, time\n" + code}; }

const Words kLooksUp = python_that("socket.getaddrinfo('registry.test', 443)");

class NoHost : public testing::TestWithParam<Who> {
 protected:
  [[nodiscard]] nlohmann::json run(const Words& tool, const Words& options = {}) const {
    return site_.run(JailKind::kNative, options, tool);
  }
  Site site_{GetParam()};
};

TEST_P(NoHost, ALookupIsDeniedByName_C24) {
  expect_denied(run(kLooksUp), "registry.test", kNoHost);
  // The control: a name that is allowed is answered.
  const nlohmann::json allowed = run(kLooksUp, {"--allow-host", "registry.test"});
  EXPECT_EQ(allowed["outcome"], "completed") << allowed;
  EXPECT_TRUE(allowed["denials"].empty()) << allowed;
}

TEST_P(NoHost, AConnectionToAnAddressIsDeniedAndArrivesNowhere_C24) {
  const Server server([](Talk& talk) { talk.write("hello"); });
  const std::string port = std::to_string(server.port());
  // An address outside the jail's own loopback, so that the kernel's rules and not an empty port refuse it.
  const nlohmann::json denied = run(python_that("socket.create_connection(('192.0.2.7', " + port + "), 20)"));
  expect_denied(denied, "192.0.2.7", kNoHost);
  const nlohmann::json own = run(python_that("socket.create_connection(('127.0.0.1', " + port + "), 20)"));
  EXPECT_NE(own.value("exit_code", 0), 0) << own;
  EXPECT_EQ(server.heard(), 0);
  const nlohmann::json allowed = run(python_that("print(socket.create_connection(('a.test', " + port + ")).recv(5))"),
                                     {"--allow-host", "a.test:" + port + "=" + server.target()});
  expect_reached(allowed, "hello");
  EXPECT_EQ(server.heard(), 1);
}

TEST_P(NoHost, ADatagramIsDeniedEvenWhenTheToolEndsAtOnce_C24) {
  const nlohmann::json record =
      run(python_that("import os\n"
                      "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.7', 123))\n"
                      "finally: os._exit(3)"));
  ASSERT_EQ(record["outcome"], "network_denied") << record;
  EXPECT_EQ(record["denials"][0]["reason"], "not tcp") << record;
}

TEST_P(NoHost, AServerOfTheToolsOwnIsNoDenial) {
  const nlohmann::json record =
      run(python_that("s = socket.create_server(('localhost', 0))\n"
                      "c = socket.create_connection(('localhost', s.getsockname()[1]))\n"
                      "s.accept()[0].sendall(b'mine'); print(c.recv(4))"));
  expect_reached(record, "mine");
}

TEST_P(NoHost, TheDenialIsReportedWhileTheToolStillRuns) {
  Program program = site_.start(
      JailKind::kNative, {"--timeout", "10m"},
      python_that("try: socket.getaddrinfo('registry.test', 443)\nexcept OSError: time.sleep(3600)"), false);
  ASSERT_TRUE(program.wait_for_stderr("sallyport: denied registry.test: no host is allowed\n"));
  ASSERT_TRUE(program.wait_for_stderr("hint: --allow-host registry.test\n"));
  program.send_signal(SIGINT);  // it would have slept for an hour
  EXPECT_EQ(program.wait().exit_code, 130);
}

TEST_P(NoHost, ATimeoutAfterADenialNamesTheDenialFirst) {
  const Words tool = python_that("try: socket.getaddrinfo('registry.test', 443)\nexcept OSError: time.sleep(3600)");
  const ProgramResult result = site_.start(JailKind::kNative, {"--timeout", "2s"}, tool, false).wait();
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_NE(result.stderr_bytes.find("sallyport: denied registry.test (no host is allowed), then timed out after"),
            std::string::npos)
      << result.stderr_bytes;
  const nlohmann::json record = run(tool, {"--timeout", "2s"});
  EXPECT_EQ(record["outcome"], "timed_out");
  EXPECT_EQ(record["denials"][0]["host"], "registry.test");
}

TEST_P(NoHost, StrictModeEndsTheRunAtTheFirstLookup) {
  const Words tool = python_that("try: socket.getaddrinfo('registry.test', 443)\nexcept OSError: time.sleep(3600)");
  expect_denied(run(tool, {"--strict-network", "--timeout", "10m"}), "registry.test", kNoHost);
}

// The tool asks for a name and exits at once, while strict mode kills the run: a race. The outcome does not depend on which
// comes first.
TEST_P(NoHost, StrictModeNamesTheDenialOfAToolThatHasLeftBeforeItWasEnded) {
  const Words tool = python_that(
      "import os\n"
      "query = b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\x08registry\\4test\\0\\0\\1\\0\\1'\n"
      "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(query, ('192.0.2.1', 53))\n"
      "os._exit(0)");
  for (int i = 0; i < 8; ++i) expect_denied(run(tool, {"--strict-network"}), "registry.test", kNoHost);
  EXPECT_EQ(run(tool)["outcome"], "completed");  // control: otherwise it has coped
}

// npm waits a minute before it asks a second time, unless the caller wants just that.
TEST_P(NoHost, NpmInstallFailsAtTheFirstDenialAndNamesTheRegistry_C24) {
  site_.put("package.json", R"({"name": "p", "version": "1.0.0", "dependencies": {"left-pad": "1.0.0"}})");
  const Words install = {"npm", "install", "--registry", "http://registry.test/"};
  expect_denied(run(install, {"--writable-repo", "--timeout", "10m"}), "registry.test", kNoHost);
  const nlohmann::json plan = run({"npm", "config", "get", "fetch-retries"});
  EXPECT_EQ(plan["stdout"], "0\n") << plan;
  const nlohmann::json chosen = run({"npm", "config", "get", "fetch-retries", "--fetch-retries", "4"});
  EXPECT_EQ(chosen["stdout"], "4\n") << chosen;
}

INSTANTIATE_TEST_SUITE_P(Users, NoHost, testing::Values(Who::kRoot, Who::kUser), [](const auto& who) {
  return who.param == Who::kRoot ? std::string("root") : std::string("user");
});

TEST(NoHostInTheLibrary, TheErrorNamesTheHostAndAWarmJailNamesItToo) {
  const TempDir repo;
  const Result<Allowlist> policy = Allowlist::from_policy(policy_admitting({"python3"}), "test policy");
  ASSERT_TRUE(policy.has_value());
  const Result<std::unique_ptr<Gate>> gate = Gate::open({.repo = repo.path(),
                                                         .allowlist = *policy,
                                                         .search_path = {"/usr/bin"},
                                                         .base_env = {{"PATH", "/usr/bin"}},
                                                         .warm_jails = 1});
  ASSERT_TRUE(gate.has_value()) << gate.error().message;
  const Result<ProcessResult> failed =
      run_external_cli(**gate, "lookup", kLooksUp, {.cwd = repo.path(), .timeout = std::chrono::seconds(60)});
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().message.find("registry.test"), std::string::npos) << failed.error().message;
  const Words copes = python_that("try: socket.getaddrinfo('registry.test', 443)\nexcept OSError: pass");
  const Result<ProcessResult> coped =
      run_external_cli(**gate, "lookup", copes, {.cwd = repo.path(), .timeout = std::chrono::seconds(60)});
  ASSERT_TRUE(coped.has_value()) << coped.error().message;
  ASSERT_EQ(coped->denials.size(), 1u);
  EXPECT_EQ(coped->denials.front().host, "registry.test");
  const JailedSubprocessSpec spec{
      .argv = kLooksUp, .repo = repo.path(), .cwd = repo.path(), .limits = {.wall = std::chrono::seconds(60)}};
  ASSERT_TRUE((*gate)->warm_up(spec));
  const Result<JailedSubprocessResult> warm = (*gate)->run(spec, JailKind::kNative, {});
  ASSERT_TRUE(warm.has_value()) << warm.error().message;
  ASSERT_TRUE(std::holds_alternative<NetworkDenied>(warm->outcome));
  EXPECT_EQ(std::get<NetworkDenied>(warm->outcome).host, "registry.test");
  EXPECT_EQ((*gate)->warm_counts().warm, 1u);
}

}  // namespace
}  // namespace sallyport::test
