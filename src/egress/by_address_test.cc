// Connections on ports a rule names, and those no rule does.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kBinary("\x00\x01\x02\xff rest", 9);

class ByAddress : public NetTest {};

TEST_F(ByAddress, TheServerMaySpeakFirst_C24) {
  Recorder server("SSH-2.0-test\r\n");
  Jail jail({rule_to("git.test", server.port(), {22})});
  const UniqueFd client = jail.open("git.test", 22);
  ASSERT_TRUE(client);
  EXPECT_EQ(receive(client.get(), 14).bytes, "SSH-2.0-test\r\n");
  ASSERT_TRUE(send_all(client.get(), "SSH-2.0-client\r\n"));
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_TRUE(receive(client.get()).ended);
  EXPECT_EQ(server.received_at_end(), "SSH-2.0-client\r\n");
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(ByAddress, AnyOtherProtocolPassesUnread) {
  Recorder server;
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(client.get(), kBinary));
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_TRUE(receive(client.get()).ended);
  EXPECT_EQ(server.received_at_end(), kBinary);
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(ByAddress, AnEndWithoutAByteIsPassedOn) {
  Recorder server("all there is");
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ::shutdown(client.get(), SHUT_WR);
  const Received told = receive(client.get());
  EXPECT_EQ(told.bytes, "all there is");
  EXPECT_TRUE(told.ended);
}

TEST_F(ByAddress, TlsNeedsNoServerNameButMustNotHaveAnother_C24) {
  for (const char* name : {"", "raw.test", "evil.test"}) {
    Recorder server;
    Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
    const UniqueFd client = jail.open("raw.test", kNamedPort);
    const std::string hello = client_hello(name);
    ASSERT_TRUE(send_all(client.get(), hello));
    ::shutdown(client.get(), SHUT_WR);
    static_cast<void>(receive(client.get()));
    const std::vector<std::string> denials = texts(jail.stop());
    if (std::string_view(name) == "evil.test") {
      EXPECT_EQ(server.received_at_end(), "");
      EXPECT_THAT(denials, ElementsAre("evil.test:4873 server name differs x1"));
    } else {
      EXPECT_EQ(server.received_at_end(), hello);
      EXPECT_THAT(denials, IsEmpty());
    }
  }
}

TEST_F(ByAddress, HttpIsFollowedRequestByRequest_C24) {
  Server server([](int fd) {
    while (receive_until(fd, "\r\n\r\n").ends_with("\r\n\r\n")) send_all(fd, "HTTP/1.1 204 No Content\r\n\r\n");
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  for (const char* host : {"raw.test", "raw.test:4873"}) {
    ASSERT_TRUE(send_all(client.get(), "GET /a HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"));
    EXPECT_EQ(receive_until(client.get(), "\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
  }
  ASSERT_TRUE(send_all(client.get(), "GET /b HTTP/1.1\r\nHost: evil.test:4873\r\n\r\n"));
  EXPECT_THAT(receive(client.get()).bytes, HasSubstr("hint: --allow-host evil.test:4873\n"));
  EXPECT_THAT(texts(jail.stop()), ElementsAre("evil.test:4873 host header differs x1"));
}

TEST_F(ByAddress, AnAddressThatNoLookupGaveIsRefusedAtOnce_C24) {
  Recorder server;
  Jail jail({rule_to("good.test", server.port())});
  for (const char* address : {"93.184.216.34", "127.0.0.1", "169.254.169.254", "198.18.200.200", "2606:2800::1"}) {
    const UniqueFd client = jail.net().connect(at(address, 443));
    EXPECT_TRUE(!client || receive(client.get()).error == ECONNRESET) << address;
  }
  EXPECT_THAT(
      texts(jail.stop()),
      ElementsAre("93.184.216.34:443 address without a name x1", "127.0.0.1:443 address without a name x1",
                  "169.254.169.254:443 address without a name x1", "198.18.200.200:443 address without a name x1",
                  "2606:2800::1:443 address without a name x1"));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(ByAddress, APortThatOnlyAnotherHostMayUseIsRefused_C24) {
  Recorder server;
  Jail jail({rule_to("good.test", server.port()), rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("good.test", kNamedPort);
  EXPECT_TRUE(!client || receive(client.get()).error == ECONNRESET);
  EXPECT_THAT(texts(jail.stop()), ElementsAre("good.test:4873 port not allowed x1"));
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(ByAddress, APortNoRuleNamesIsRefusedByNameWhenTheKernelRedirectsIt_C24) {
  Recorder server;
  Jail jail({rule_to("good.test", server.port())});
  for (const bool v6 : {false, true}) {
    const UniqueFd client = jail.open("good.test", 9999, v6);
    EXPECT_TRUE(!client || receive(client.get()).error == ECONNRESET);
  }
  const UniqueFd direct = jail.net().connect(at("93.184.216.34", 9999));
  EXPECT_TRUE(!direct || receive(direct.get()).error == ECONNRESET);
  const std::vector<std::string> denials = texts(jail.stop());
  if (jail.redirects()) {
    EXPECT_THAT(denials,
                ElementsAre("good.test:9999 port not allowed x2", "93.184.216.34:9999 address without a name x1"));
  } else {
    EXPECT_THAT(denials, IsEmpty());  // refused by the kernel: nobody listens there
  }
  EXPECT_EQ(server.connections(), 0);
}

}  // namespace
}  // namespace sallyport::test
