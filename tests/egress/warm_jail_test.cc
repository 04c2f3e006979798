// A jail kept ready has its network too: the hosts its run may reach, and no other.
#include <gtest/gtest.h>

#include "egress/server.h"
#include "sallyport/gate.h"
#include "support/installed.h"
#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

class WarmEgress : public testing::Test {
 protected:
  WarmEgress() {
    const Result<Allowlist> curl = Allowlist::from_policy(policy_admitting({"curl"}), "test policy");
    Result<std::unique_ptr<Gate>> gate = Gate::open({.repo = repo_.path(),
                                                     .allowlist = *curl,
                                                     .search_path = {"/usr/bin"},
                                                     .base_env = {{"PATH", "/usr/bin"}},
                                                     .warm_jails = 2});
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

}  // namespace
}  // namespace sallyport::test
