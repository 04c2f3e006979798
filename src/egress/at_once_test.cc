// What the jail's kernel refuses by itself: a refused connect() fails, a refused datagram is an error, and both are
// reported.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "egress/denial_log.h"
#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AtOnce : public NetTest {};

// connect()'s errno; 0: connected.
int connect_error(const Jail& jail, const Endpoint& to) { return jail.net().connect(to) ? 0 : errno; }

TEST_F(AtOnce, ConnectFailsWhereNoRuleCouldAllowIt_C24) {
  Recorder server("welcome");
  Jail jail({rule_to("good.test", server.port(), {kNamedPort})});
  if (!jail.refuses_at_once()) GTEST_SKIP() << "no nftables with log and reject here";
  for (const char* address : {"93.184.216.34", "169.254.169.254", "10.0.0.1", "2606:2800::1"}) {
    EXPECT_EQ(connect_error(jail, at(address, 443)), ECONNREFUSED) << address;
    EXPECT_EQ(connect_error(jail, at(address, kNamedPort)), ECONNREFUSED) << address;
  }
  EXPECT_EQ(connect_error(jail, at("127.0.0.1", kNamedPort)), ECONNREFUSED);
  EXPECT_EQ(connect_error(jail, at("::1", kNamedPort)), ECONNREFUSED);
  const DnsReply good = jail.ask("good.test", kDnsTypeA);
  ASSERT_TRUE(good.address);
  EXPECT_EQ(connect_error(jail, {.address = *good.address, .port = 22}), ECONNREFUSED);
  // The control: the allowed port of the same address.
  const UniqueFd allowed = jail.net().connect({.address = *good.address, .port = kNamedPort});
  ASSERT_TRUE(allowed);
  EXPECT_EQ(receive(allowed.get(), 7).bytes, "welcome");
  EXPECT_THAT(texts(jail.stop()),
              ElementsAre("93.184.216.34:443 address without a name x1", "93.184.216.34:4873 address without a name x1",
                          "169.254.169.254:443 address without a name x1",
                          "169.254.169.254:4873 address without a name x1", "10.0.0.1:443 address without a name x1",
                          "10.0.0.1:4873 address without a name x1", "2606:2800::1:443 address without a name x1",
                          "2606:2800::1:4873 address without a name x1", "127.0.0.1:4873 address without a name x1",
                          "::1:4873 address without a name x1", "good.test:22 port not allowed x1"));
}

TEST_F(AtOnce, TheJailsOwnLoopbackStaysTheTools) {
  Jail jail({rule_for("good.test", {kNamedPort})});
  for (const bool v6 : {false, true}) {
    const UniqueFd listener = jail.net().listener(v6, 8080);
    EXPECT_TRUE(jail.net().connect(at(v6 ? "::1" : "127.0.0.1", 8080)));
    const UniqueFd receiver = jail.net().udp(v6, 8080);
    const UniqueFd sender = jail.net().socket(v6, SOCK_DGRAM);
    const SocketAddress to = socket_address(at(v6 ? "::1" : "127.0.0.1", 8080));
    EXPECT_EQ(::sendto(sender.get(), "x", 1, 0, to.get(), to.length), 1);
    char byte = 0;
    EXPECT_EQ(::recv(receiver.get(), &byte, 1, 0), 1);
  }
  EXPECT_THAT(jail.stop(), IsEmpty());
}

// 0: sent.
int send_error(const UniqueFd& socket, const Endpoint& to) {
  const SocketAddress address = socket_address(to);
  return ::sendto(socket.get(), "x", 1, MSG_NOSIGNAL, address.get(), address.length) == 1 ? 0 : errno;
}

TEST_F(AtOnce, ADatagramIsAnErrorAndADenial_C24) {
  Jail jail({rule_for("good.test", {kNamedPort})});
  if (!jail.refuses_at_once()) GTEST_SKIP() << "no nftables with log and reject here";
  const UniqueFd v4 = jail.net().socket(false, SOCK_DGRAM);
  EXPECT_EQ(send_error(v4, at("93.184.216.34", 443)), EPERM);
  EXPECT_EQ(send_error(jail.net().socket(true, SOCK_DGRAM), at("2606:2800::1", 443)), EPERM);
  // A connected socket reports the error too, as for a host where nothing listens.
  const UniqueFd connected = jail.net().socket(false, SOCK_DGRAM);
  const SocketAddress there = socket_address(at("93.184.216.34", 443));
  ASSERT_EQ(::connect(connected.get(), there.get(), there.length), 0);
  EXPECT_EQ(::send(connected.get(), "x", 1, 0), -1);
  pollfd watched{.fd = connected.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&watched, 1, 5000), 1);
  const DnsReply good = jail.ask("good.test", kDnsTypeA);
  EXPECT_EQ(send_error(v4, {.address = *good.address, .port = kNamedPort}), EPERM) << "QUIC to an allowed host";
  EXPECT_THAT(texts(jail.stop()),
              ElementsAre("93.184.216.34:443 not tcp x2", "2606:2800::1:443 not tcp x1", "good.test:4873 not tcp x1"));
}

TEST_F(AtOnce, LookupsAreAnsweredWhateverResolverIsAsked) {
  Jail jail({rule_for("good.test")});
  for (const char* resolver : {"127.0.0.1", "8.8.8.8", "::1", "2001:4860::8888", "198.18.0.1"}) {
    EXPECT_EQ(jail.ask("good.test", kDnsTypeA, resolver).rcode, 0) << resolver;
  }
  EXPECT_THAT(jail.stop(), IsEmpty());
}

// Multicast and broadcast, by the route and by naming an interface or a source.
TEST_F(AtOnce, ADatagramToAGroupIsAnErrorNotSilence_C24) {
  for (const Kernel kernel : {Kernel::kRefusesAtOnce, Kernel::kRedirects}) {
    Jail jail({rule_for("good.test")}, {}, kernel);
    for (const char* group : {"224.0.0.1", "224.0.0.251", "239.1.2.3", "255.255.255.255", "ff02::1", "ff05::2"}) {
      const Endpoint to = at(group, 5353);
      const UniqueFd plain = jail.net().socket(to.address.v6, SOCK_DGRAM);
      const int on = 1;
      ::setsockopt(plain.get(), SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
      EXPECT_NE(send_error(plain, to), 0) << group;
      if (!jail.refuses_at_once() || to.address.v6) continue;
      const SocketAddress own = socket_address(at("127.0.0.1", 0));
      const UniqueFd by_source = jail.net().socket(false, SOCK_DGRAM);
      ::setsockopt(by_source.get(), SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
      EXPECT_EQ(::bind(by_source.get(), own.get(), own.length), 0);
      EXPECT_EQ(send_error(by_source, to), EPERM) << group << " from a source of the jail's own";
      const UniqueFd by_interface = jail.net().socket(false, SOCK_DGRAM);
      const in_addr loopback{.s_addr = htonl(INADDR_LOOPBACK)};
      ::setsockopt(by_interface.get(), SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
      EXPECT_EQ(::setsockopt(by_interface.get(), IPPROTO_IP, IP_MULTICAST_IF, &loopback, sizeof loopback), 0);
      EXPECT_EQ(send_error(by_interface, to), EPERM) << group << " by interface";
    }
    const std::vector<std::string> denials = texts(jail.stop());
    if (jail.refuses_at_once()) {
      EXPECT_THAT(denials,
                  ElementsAre("224.0.0.1:5353 not tcp x3", "224.0.0.251:5353 not tcp x3", "239.1.2.3:5353 not tcp x3",
                              "255.255.255.255:5353 not tcp x3", "ff02::1:5353 not tcp x1", "ff05::2:5353 not tcp x1"));
    }
  }
}

TEST_F(AtOnce, AFloodOfRefusalsIsCountedAndBounded_C35) {
  Jail jail({rule_for("good.test")});
  if (!jail.refuses_at_once()) GTEST_SKIP() << "no nftables with log and reject here";
  constexpr int kFlood = 20'000;
  const UniqueFd socket = jail.net().socket(false, SOCK_DGRAM);
  for (int i = 0; i < kFlood; ++i) {
    EXPECT_EQ(send_error(socket, at("93.184.216.34", static_cast<std::uint16_t>(1000 + i))), EPERM);
  }
  const std::vector<Denial> denials = jail.stop();
  EXPECT_LE(denials.size(), DenialLog::kMostEntries + 1);
  EXPECT_GE(denials.size(), 2U);
}

}  // namespace
}  // namespace sallyport::test
