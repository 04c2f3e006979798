#include <gmock/gmock.h>
#include <sys/socket.h>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t kMx = 15;
constexpr int kNoError = 0;
constexpr int kNxDomain = 3;

class Dns : public NetTest {};

TEST_F(Dns, GivesAnAllowedNameTheSameMadeUpAddressEachTime_C24) {
  Jail jail({rule_for("good.test")});
  const DnsReply first = jail.ask("good.test", kDnsTypeA);
  ASSERT_TRUE(first.address);
  EXPECT_FALSE(first.address->v6);
  EXPECT_EQ(jail.ask("GOOD.test", kDnsTypeA).address, first.address);
  const DnsReply v6 = jail.ask("good.test", kDnsTypeAaaa);
  ASSERT_TRUE(v6.address);
  EXPECT_TRUE(v6.address->v6);
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(Dns, SaysThatARefusedNameDoesNotExistAndRecordsIt_C24) {
  Jail jail({rule_for("good.test")});
  EXPECT_EQ(jail.ask("good.test", kDnsTypeA).rcode, kNoError);
  EXPECT_EQ(jail.ask("secret-payload.good.test", kDnsTypeA).rcode, kNxDomain);
  EXPECT_EQ(jail.ask("evil.test", kDnsTypeA).rcode, kNxDomain);
  EXPECT_EQ(jail.ask("evil.test", kDnsTypeAaaa).rcode, kNxDomain);
  EXPECT_EQ(jail.ask("evil.test", kMx).rcode, kNxDomain);
  EXPECT_THAT(texts(jail.stop()),
              ElementsAre("secret-payload.good.test:0 host not allowed x1", "evil.test:0 host not allowed x3"));
}

TEST_F(Dns, AnswersFromTheAddressThatWasAsked) {
  Jail jail({rule_for("good.test")});
  for (const char* server : {"127.0.0.1", "8.8.8.8", "::1", "2001:4860:4860::8888"}) {
    const DnsReply reply = jail.ask("good.test", kDnsTypeA, server);
    EXPECT_TRUE(reply.address) << server;
    EXPECT_EQ(reply.from, at(server, 53)) << server;
  }
}

TEST_F(Dns, HasNoOtherRecordsOfAnAllowedName) {
  Jail jail({rule_for("good.test")});
  EXPECT_EQ(jail.ask("good.test", kMx).rcode, kNoError);
  EXPECT_FALSE(jail.ask("good.test", kMx).address);
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(Dns, DoesNotCountReverseLookupsAndLocalhostAsAttempts) {
  Jail jail({rule_for("good.test")});
  EXPECT_EQ(jail.ask("1.0.0.127.in-addr.arpa", 12).rcode, kNxDomain);
  EXPECT_EQ(jail.ask("localhost", kDnsTypeA).address, at("127.0.0.1", 0).address);
  EXPECT_EQ(jail.ask("localhost", kDnsTypeAaaa).address, at("::1", 0).address);
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(Dns, AnswersSeveralQueriesOnOneTcpConnectionHoweverTheyAreSplit) {
  Jail jail({rule_for("good.test")});
  const DnsReply by_udp = jail.ask("good.test", kDnsTypeA);
  const UniqueFd tcp = jail.net().connect(at("9.9.9.9", 53));
  ASSERT_TRUE(tcp);
  const auto framed = [](const std::string& query) {
    return std::string{'\0', static_cast<char>(query.size())} + query;
  };
  const std::string queries = framed(dns_query("good.test", kDnsTypeA)) + framed(dns_query("evil.test", kDnsTypeA));
  for (const char byte : queries) ASSERT_TRUE(send_all(tcp.get(), {&byte, 1}));
  ASSERT_TRUE(send_all(tcp.get(), queries));
  for (int i = 0; i < 2; ++i) {
    for (const bool good : {true, false}) {
      const std::string size = receive(tcp.get(), 2).bytes;
      ASSERT_EQ(size.size(), 2U);
      const DnsReply reply = parse_reply(receive(tcp.get(), static_cast<unsigned char>(size[1])).bytes);
      EXPECT_EQ(reply.rcode, good ? kNoError : kNxDomain);
      EXPECT_EQ(reply.address, good ? by_udp.address : std::nullopt);
    }
  }
  EXPECT_THAT(texts(jail.stop()), ElementsAre("evil.test:0 host not allowed x2"));
}

TEST_F(Dns, ClosesATcpConnectionThatSendsNonsense) {
  Jail jail({rule_for("good.test")});
  const UniqueFd tcp = jail.net().connect(at("127.0.0.1", 53));
  ASSERT_TRUE(send_all(tcp.get(), std::string(600, '\xff')));
  EXPECT_EQ(receive(tcp.get()).bytes, "");
  EXPECT_TRUE(jail.ask("good.test", kDnsTypeA).address);
}

TEST_F(Dns, AnswersFurtherTcpClientsWhileManyHoldTheirConnectionsOpen) {
  Jail jail({rule_for("good.test")}, {.timeouts = {.dns_idle = std::chrono::milliseconds(200)}});
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 50; ++i) idle.push_back(jail.net().connect(at("127.0.0.1", 53)));
  const UniqueFd tcp = jail.net().connect(at("127.0.0.1", 53));
  const std::string query = dns_query("good.test", kDnsTypeA);
  ASSERT_TRUE(send_all(tcp.get(), std::string{'\0', static_cast<char>(query.size())} + query));
  EXPECT_EQ(receive(tcp.get(), 2).bytes.size(), 2U);
}

TEST_F(Dns, SurvivesDatagramsThatAreNoQueries) {
  Jail jail({rule_for("good.test")});
  const UniqueFd udp = jail.net().socket(false, SOCK_DGRAM);
  const SocketAddress to = socket_address(at("127.0.0.1", 53));
  for (const std::size_t size : {0U, 1U, 11U, 12U, 512U, 9000U}) {
    const std::string junk(size, '\x7f');
    EXPECT_EQ(::sendto(udp.get(), junk.data(), size, 0, to.get(), to.length), static_cast<ssize_t>(size));
  }
  EXPECT_TRUE(jail.ask("good.test", kDnsTypeA).address);
}

}  // namespace
}  // namespace sallyport::test
