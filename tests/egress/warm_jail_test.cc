// A jail kept ready has its network too: the hosts its run may reach, and no other. One that is only started ahead has the
// network of a run without hosts (ADR 0117).
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include "egress/server.h"
#include "sallyport/gate.h"
#include "support/installed.h"
#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

class WarmEgress : public testing::Test {
 protected:
  explicit WarmEgress(std::size_t warm_jails = 2) {
    const Result<Allowlist> curl = Allowlist::from_policy(policy_admitting({"curl"}), "test policy");
    Result<std::unique_ptr<Gate>> gate = Gate::open({.repo = repo_.path(),
                                                     .allowlist = *curl,
                                                     .search_path = {"/usr/bin"},
                                                     .base_env = {{"PATH", "/usr/bin"}},
                                                     .warm_jails = warm_jails});
    EXPECT_TRUE(gate.has_value());
    gate_ = *std::move(gate);
  }

  [[nodiscard]] JailedSubprocessSpec fetch(const std::string& host, const Server& from) const {
    const std::string port = std::to_string(from.port());
    return {.argv = {"curl", "--silent", "--max-time", "20", "http://" + host + ":" + port + "/"},
            .repo = repo_.path(),
            .cwd = repo_.path(),
            .allowed_hosts = {*parse_host_rule("allowed.test:" + port + "=" + from.target())},
            .limits = {.wall = std::chrono::seconds(60)}};
  }

  TempDir repo_;
  std::unique_ptr<Gate> gate_;
};

TEST_F(WarmEgress, ReachesTheAllowedHostAndNoOther) {
  const Server server([](Talk& talk) {
    char request[4096];
    if (talk.read(request, sizeof request) > 0) talk.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  });
  ASSERT_TRUE(gate_->warm_up(fetch("allowed.test", server)));
  for (int round = 1; round <= 3; ++round) {
    const Result<JailedSubprocessResult> allowed = gate_->run(fetch("allowed.test", server), JailKind::kNative, {});
    ASSERT_TRUE(allowed.has_value()) << allowed.error().message;
    EXPECT_EQ(allowed->stdout_stream.bytes, "hello");
    EXPECT_EQ(server.heard(), round);
    const Result<JailedSubprocessResult> refused = gate_->run(fetch("other.test", server), JailKind::kNative, {});
    ASSERT_TRUE(refused.has_value()) << refused.error().message;
    EXPECT_TRUE(std::holds_alternative<NetworkDenied>(refused->outcome));
    EXPECT_EQ(server.heard(), round);
  }
  EXPECT_EQ(gate_->warm_counts().warm, 6u);
}

TEST_F(WarmEgress, ARunWithoutHostsDoesNotGetAJailThatHasSome) {
  const Server server([](Talk& talk) { talk.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); });
  ASSERT_TRUE(gate_->warm_up(fetch("allowed.test", server)));
  JailedSubprocessSpec none = fetch("allowed.test", server);
  ASSERT_TRUE(gate_->run(none, JailKind::kNative, {}).has_value());
  EXPECT_EQ(server.heard(), 1) << "the control: with the host it arrives";
  none.allowed_hosts.clear();
  ASSERT_TRUE(gate_->run(none, JailKind::kNative, {}).has_value());
  EXPECT_EQ(server.heard(), 1);
  EXPECT_EQ(gate_->warm_counts().cold, 1u);
}

class StartedAhead : public WarmEgress {
 protected:
  StartedAhead() : WarmEgress(0) {}

  // A run that may reach the server does, one that may not is denied it by name.
  void expect_each_run_to_have_its_own_network(const Server& server) {
    const int before = server.heard();
    JailedSubprocessSpec call = fetch("allowed.test", server);
    const Result<JailedSubprocessResult> allowed = gate_->run(call, JailKind::kNative, {});
    ASSERT_TRUE(allowed.has_value()) << allowed.error().message;
    EXPECT_EQ(allowed->stdout_stream.bytes, "hello");
    EXPECT_TRUE(allowed->receipt.has(Guarantee::kNetEgressAllowlist));
    EXPECT_EQ(server.heard(), before + 1);
    call.allowed_hosts.clear();
    const Result<JailedSubprocessResult> denied = gate_->run(call, JailKind::kNative, {});
    ASSERT_TRUE(denied.has_value()) << denied.error().message;
    ASSERT_TRUE(std::holds_alternative<NetworkDenied>(denied->outcome));
    EXPECT_EQ(std::get<NetworkDenied>(denied->outcome).host, "allowed.test");
    EXPECT_TRUE(denied->receipt.has(Guarantee::kNetIsolated));
    EXPECT_EQ(server.heard(), before + 1);
  }
};

void hello(Talk& talk) {
  char request[4096];
  if (talk.read(request, sizeof request) > 0) talk.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

TEST_F(StartedAhead, AJailServesARunWithHostsAndOneWithoutInAnyOrder) {
  const Server server(hello);
  for (int round = 0; round < 5; ++round) expect_each_run_to_have_its_own_network(server);
}

TEST_F(StartedAhead, AJailThatIsBuiltAnewSinceMountsChangedHasTheRunsNetworkToo) {
  if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "only root can mount without a user namespace around the gate";
  ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  const TempDir place;
  const Server server(hello);
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(::mount("none", place.path().c_str(), "tmpfs", 0, nullptr), 0);
    expect_each_run_to_have_its_own_network(server);
    ASSERT_EQ(::umount2(place.path().c_str(), 0), 0);
    expect_each_run_to_have_its_own_network(server);
  }
}

}  // namespace
}  // namespace sallyport::test
