// The macOS jail behind the whole gate, against the stand-in for sandbox-exec: what the contract suite does not ask (C40).
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "gate/gate_fixture.h"
#include "gate/stand_in_jail.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;

class SandboxExecTest : public GateTest {
 protected:
  SandboxExecTest() {
    GateConfig with_jail = config();
    with_jail.own_jails = {&jail_};
    with_jail.search_path.push_back(stand_in_dir());
    gate_ = Gate::open(std::move(with_jail)).value();
  }
  [[nodiscard]] JailedSubprocessResult run(const JailedSubprocessSpec& what) const {
    return GateTest::run(*gate_, what, kStandIn);
  }

  TempDir scratch_;  // where nobody else makes directories
  StandInJail jail_{scratch_.path()};
  std::unique_ptr<Gate> gate_;
};

TEST_F(SandboxExecTest, NeedsMacOsAndSaysSo_C40) {
  const Result<JailedSubprocessResult> result = gate_->run(spec({"exit_with", "0"}), JailKind::kSandboxExec, {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().as<JailUnavailable>(), nullptr);
  EXPECT_THAT(result.error().message, testing::HasSubstr("macOS"));
  EXPECT_EQ(exit_code(run(spec({"exit_with", "0"}))), 0) << "the control";
}

// The launcher's message is the reason of the failure, and the gate does not wait for the deadline.
TEST_F(SandboxExecTest, SaysWhyASandboxCannotBeMade_C40) {
  JailedSubprocessSpec what = spec({"leave_mark", (repo_ / "mark").string()});
  what.repo_access = RepoAccess::kWritable;
  what.limits.wall = 20min;
  what.env_extras = {{"STAND_IN_IS_NESTED", "1"}};
  const Result<JailedSubprocessResult> result = gate_->run(what, kStandIn, {});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("sandbox_apply"));
  EXPECT_FALSE(std::filesystem::exists(repo_ / "mark"));
  what.env_extras = {};
  EXPECT_EQ(exit_code(run(what)), 0);
  EXPECT_TRUE(std::filesystem::exists(repo_ / "mark")) << "the control";
}

TEST_F(SandboxExecTest, CutsOutputAtTheCap_C13) {
  JailedSubprocessSpec what = spec({"print_bytes", "3000000"});
  what.limits.output = ByteCount{100000};
  const JailedSubprocessResult result = run(what);
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_TRUE(result.stdout_stream.truncated);
  EXPECT_EQ(result.stdout_stream.bytes.size(), 100000U);
}

TEST_F(SandboxExecTest, PassesInputOn_C6) {
  JailedSubprocessSpec what = spec({"print_stdin"});
  what.stdin_source = StdinBytes{"given"};
  EXPECT_THAT(run(what).stdout_stream.bytes, testing::HasSubstr("given"));
}

TEST_F(SandboxExecTest, EndsATreeThatIgnoresTerminationAtItsDeadline_C9) {
  const std::string marker = unique_marker();
  JailedSubprocessSpec what = spec({"sleep_tree", marker});
  what.limits.wall = 400ms;
  const JailedSubprocessResult result = run(what);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result.outcome));
  EXPECT_TRUE(all_gone(marker));
  EXPECT_FALSE(result.receipt.has(Guarantee::kLimitWall)) << "a process can leave its group";
}

TEST_F(SandboxExecTest, LeavesNothingBehind_C16) {
  const auto count = [this] { return LeakCount::of_self(scratch_.path(), "sallyport-"); };
  static_cast<void>(run(spec({"exit_with", "0"})));
  const LeakCount before = count();
  static_cast<void>(run(spec({"exit_with", "3"})));
  JailedSubprocessSpec slow = spec({"sleep_forever"});
  slow.limits.wall = 200ms;
  static_cast<void>(run(slow));
  EXPECT_EQ(count(), before);
}

TEST_F(SandboxExecTest, SaysInTheReceiptByWhatItHolds_C26) {
  const JailedSubprocessResult result = run(spec({"exit_with", "0"}));
  EXPECT_EQ(mechanism_of(result, Guarantee::kFsWriteConfined), "sandbox profile");
  EXPECT_EQ(mechanism_of(result, Guarantee::kNetIsolated), "sandbox profile");
  for (const Guarantee guarantee : jail_.never_gives())
    EXPECT_FALSE(result.receipt.has(guarantee)) << name_of(guarantee);
}

// Answers each client with a line and a dot, and counts them.
class Upstream {
 public:
  Upstream() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  ~Upstream() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] std::string port() const { return std::to_string(port_); }
  [[nodiscard]] HostRule rule(const std::string& host) const {
    return *parse_host_rule(host + ":" + port() + "=127.0.0.1:" + port());
  }
  [[nodiscard]] int heard() const { return heard_; }

 private:
  void serve() {
    for (;;) {
      const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      if (!client) return;
      ++heard_;
      std::array<char, 4096> request{};
      static_cast<void>(!::read(client.get(), request.data(), request.size()));
      const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nupstream\n.\n";
      static_cast<void>(!::write(client.get(), answer.data(), answer.size()));
    }
  }

  UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port_ = 0;
  std::atomic<int> heard_ = 0;
  std::thread thread_;
};

TEST_F(SandboxExecTest, ReachesAllowedHostsThroughTheProxyAndNoOther_C24) {
  const Upstream upstream;
  JailedSubprocessSpec what = spec({"connect_through", "host.test", upstream.port()});
  what.allowed_hosts = {upstream.rule("host.test")};
  const JailedSubprocessResult reached = run(what);
  EXPECT_EQ(exit_code(reached), 0) << reached.stdout_stream.bytes;
  EXPECT_THAT(reached.stdout_stream.bytes, testing::HasSubstr("upstream"));
  EXPECT_EQ(upstream.heard(), 1);
  EXPECT_EQ(mechanism_of(reached, Guarantee::kNetEgressAllowlist), "sandbox profile, proxy");
  EXPECT_FALSE(reached.receipt.has(Guarantee::kNetIsolated));
  EXPECT_FALSE(reached.receipt.has(Guarantee::kNetDnsClosed));

  what.argv[1] = "other.test";
  const JailedSubprocessResult denied = run(what);
  const auto* verdict = std::get_if<NetworkDenied>(&denied.outcome);
  ASSERT_NE(verdict, nullptr) << denied.stdout_stream.bytes;
  EXPECT_EQ(verdict->host, "other.test");
  EXPECT_THAT(denied.stdout_stream.bytes, testing::HasSubstr(" 403 "));

  what.argv[1] = "127.0.0.1";
  EXPECT_FALSE(exit_code(run(what)) == 0 && upstream.heard() != 1);
  EXPECT_EQ(upstream.heard(), 1) << "somebody got through";
}

TEST_F(SandboxExecTest, TurnsAwayAClientWithoutTheRunsSecret) {
  const Upstream upstream;
  JailedSubprocessSpec what = spec({"connect_through", "host.test", upstream.port(), "wrong-secret"});
  what.allowed_hosts = {upstream.rule("host.test")};
  const JailedSubprocessResult result = run(what);
  EXPECT_EQ(exit_code(result), 1);
  EXPECT_THAT(result.stdout_stream.bytes, testing::HasSubstr(" 407 "));
  EXPECT_EQ(upstream.heard(), 0);
}

TEST_F(SandboxExecTest, ShowsTheWholeCommandWhenItExplains) {
  const Result<Explanation> explanation = gate_->explain(spec({"exit_with", "0"}), kStandIn);
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_EQ(explanation->rendered.at(0), (stand_in_dir() / "sandbox-exec").string());
  EXPECT_THAT(explanation->rendered, testing::Contains(testing::StartsWith("(version 1)")));
}

}  // namespace
}  // namespace sallyport::test
