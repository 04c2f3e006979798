// Where an allowed connection goes: the parent resolves it after the check, and connects to public addresses only.
#include <gmock/gmock.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "egress/test_jail.h"
#include "egress/test_nameserver.h"
#include "os/test_dir.h"

namespace sallyport::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class Upstream : public NetTest {
 protected:
  // Sends "\x01hi" to x.test and returns what came back.
  static Received greet(Jail& jail, std::string_view name = "x.test", std::uint16_t port = kNamedPort) {
    const UniqueFd client = jail.open(name, port);
    if (!client) return {};
    if (!send_all(client.get(), "\x01hi")) return {.error = errno};
    ::shutdown(client.get(), SHUT_WR);
    return receive(client.get());
  }
};

TEST_F(Upstream, ConnectsToTheAddressItResolved_C24) {
  Recorder server("public", at("93.184.216.34", kNamedPort));
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.34"}}});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail).bytes, "public");
  EXPECT_EQ(server.received_at_end(), "\x01hi");
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(Upstream, AsksNobodyForARefusedNameNorForOneThatIsOnlyLookedUp_C24) {
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.34"}}, {"evil.test", {"93.184.216.34"}}});
  Jail jail({rule_for("x.test", {kNamedPort}), rule_for("tls.test")}, {.nameserver = names.where()});
  EXPECT_TRUE(jail.ask("x.test", kDnsTypeA).address);
  EXPECT_FALSE(jail.ask("evil.test", kDnsTypeA).address);
  const UniqueFd refused = jail.open("tls.test", 443);
  send_all(refused.get(), client_hello("evil.test"));
  static_cast<void>(receive(refused.get()));
  EXPECT_THAT(names.questions(), IsEmpty());
  static_cast<void>(greet(jail));
  EXPECT_THAT(names.questions(), UnorderedElementsAre("x.test A", "x.test AAAA"));
}

TEST_F(Upstream, RefusesANameThatLeadsIntoAPrivateNetwork_C24) {
  const Server nobody([](int) {}, at("0.0.0.0", kNamedPort));
  const Server nobody6([](int) {}, at("::", kNamedPort + 1));
  for (const char* address :
       {"127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1", "fd00::1"}) {
    NameServer names(NameServer::Records{{"x.test", {address}}});
    Jail jail({rule_for("x.test", kNamedPort), rule_for("x.test", kNamedPort + 1)}, {.nameserver = names.where()});
    EXPECT_EQ(greet(jail).error, ECONNRESET) << address;
    EXPECT_EQ(greet(jail, "x.test", kNamedPort + 1).error, ECONNRESET) << address;
    const std::string why(name_of(kind_of(*parse_ip_address(address))));
    EXPECT_THAT(texts(jail.stop()),
                ElementsAre("x.test:4873 " + why + " address x1", "x.test:4874 " + why + " address x1"))
        << address;
  }
  EXPECT_EQ(nobody.connections(), 0);
  EXPECT_EQ(nobody6.connections(), 0);
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.34"}}});
  Jail control({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  static_cast<void>(greet(control));
  EXPECT_EQ(nobody.connections(), 1);
}

TEST_F(Upstream, UsesThePublicAddressesOfANameThatHasPrivateOnesToo_C24) {
  Recorder here("private", at("127.0.0.1", kNamedPort));
  Recorder there("public", at("93.184.216.34", kNamedPort));
  NameServer names(NameServer::Records{{"x.test", {"127.0.0.1", "::1", "93.184.216.34"}}});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail).bytes, "public");
  EXPECT_EQ(here.connections(), 0);
}

TEST_F(Upstream, RefusesANameThatLeadsToAnAddressOfThisMachine_C24) {
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo:1", sizeof request.ifr_name - 1);
  const SocketAddress own = socket_address(at("93.184.216.99", 0));
  std::memcpy(&request.ifr_addr, own.get(), sizeof request.ifr_addr);
  ASSERT_EQ(::ioctl(any.get(), SIOCSIFADDR, &request), 0);
  Recorder server("mine", at("93.184.216.99", kNamedPort));
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.99"}}});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail).error, ECONNRESET);
  EXPECT_THAT(texts(jail.stop()), ElementsAre("x.test:4873 address of this host x1"));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(Upstream, SaysWhichAllowedNameDoesNotResolve) {
  NameServer names(NameServer::Records{});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail).error, ECONNRESET);
  EXPECT_THAT(texts(jail.stop()), ElementsAre("x.test:4873 name does not resolve x1"));
}

// A hosts file of the test's own, for this thread and those it starts.
bool use_hosts_file(const std::filesystem::path& file) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
}

TEST_F(Upstream, ReadsTheHostsFile) {
  const TestDir dir;
  std::ofstream(dir / "hosts") << "127.0.0.1 localhost here.test\n";
  ASSERT_TRUE(use_hosts_file(dir / "hosts")) << errno;
  NameServer names(NameServer::Records{});
  Jail jail({rule_for("here.test", kNamedPort)}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail, "here.test").error, ECONNRESET);
  EXPECT_THAT(texts(jail.stop()), ElementsAre("here.test:4873 loopback address x1"));
  EXPECT_THAT(names.questions(), IsEmpty());
}

TEST_F(Upstream, AsksOnceForManyConnections) {
  Recorder server("public", at("93.184.216.34", kNamedPort));
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.34"}}});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(greet(jail).bytes, "public");
  EXPECT_THAT(names.questions(), SizeIs(2));
}

TEST_F(Upstream, PrefersIpv6AndFallsBackWhenItIsRefused) {
  Recorder v4("v4", at("93.184.216.34", kNamedPort));
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.34", "2606:2800:220:1::34"}}});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail).bytes, "v4");
  Recorder v6("v6", at("2606:2800:220:1::34", kNamedPort));
  EXPECT_EQ(greet(jail).bytes, "v6");
}

TEST_F(Upstream, FallsBackWhenIpv6IsSilent) {
  // A full queue drops packets silently, like a firewall.
  const Endpoint silent = at("2606:2800:220:1::35", kNamedPort);
  const UniqueFd full(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(full.get(), IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);
  const SocketAddress address = socket_address(silent);
  ASSERT_EQ(::bind(full.get(), address.get(), address.length), 0);
  ASSERT_EQ(::listen(full.get(), 0), 0);
  std::vector<UniqueFd> fillers;
  for (int i = 0; i < 3; ++i) {
    fillers.emplace_back(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(fillers.back().get(), address.get(), address.length);
  }
  Recorder v4("v4", at("93.184.216.34", kNamedPort));
  NameServer names(NameServer::Records{{"x.test", {"93.184.216.34", "2606:2800:220:1::35"}}});
  Jail jail({rule_for("x.test", {kNamedPort})}, {.nameserver = names.where()});
  EXPECT_EQ(greet(jail).bytes, "v4");
}

TEST_F(Upstream, AServerThatDoesNotAnswerIsAResetAndNoDenial) {
  Jail refused({rule_to("x.test", 9, {kNamedPort})});
  EXPECT_EQ(greet(refused).error, ECONNRESET);
  EXPECT_THAT(refused.stop(), IsEmpty());
}

}  // namespace
}  // namespace sallyport::test
