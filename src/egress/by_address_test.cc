// Connections on ports that a rule names, and on other ports.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using namespace std::string_literals;
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
  const Received got = receive(client.get());
  EXPECT_EQ(got.bytes, "all there is");
  EXPECT_TRUE(got.ended);
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
  EXPECT_THAT(receive(client.get()).bytes, HasSubstr("hint: allow evil.test:4873 in the call"));
  EXPECT_THAT(texts(jail.stop()), ElementsAre("evil.test:4873 host header differs x1"));
}

// Sends `pieces`, each when the server has received the one before.
struct Exchange {
  std::string heard{};
  std::vector<std::string> denials{};
};
Exchange send_in_pieces(const std::vector<std::string>& pieces) {
  Recorder server;
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})}, {.timeouts = {.client = std::chrono::seconds(60)}});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  std::string expected;
  for (const std::string& piece : pieces) {
    if (!send_all(client.get(), piece)) break;
    expected += piece;
    for (int i = 0; i < 40 && server.received() != expected; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ::shutdown(client.get(), SHUT_WR);
  static_cast<void>(receive(client.get()));
  Exchange got{.denials = texts(jail.stop())};
  got.heard = server.received_at_end();
  return got;
}

TEST_F(ByAddress, AClientThatWaitsForAnAnswerToItsFirstByteGetsOne) {
  for (const std::string& first : {"G"s, "CONNECT {"s, "\x16"s, "\x80"s, "\r\n"s, "\0"s, "FOO bar"s}) {
    Server server([&](int fd) {
      EXPECT_EQ(receive(fd, first.size()).bytes, first);
      send_all(fd, "go on");
    });
    Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
    const UniqueFd client = jail.open("raw.test", kNamedPort);
    ASSERT_TRUE(send_all(client.get(), first));
    EXPECT_EQ(receive(client.get(), 5).bytes, "go on") << first;
    EXPECT_THAT(jail.stop(), IsEmpty());
  }
}

TEST_F(ByAddress, WhatWentAheadIsNotForgotten_C24) {
  const std::string evil = "Host: evil.test:4873\r\n\r\n";
  for (const std::vector<std::string>& pieces :
       {std::vector{"G"s, "ET / HTTP/1.1\r\n" + evil}, std::vector{"\0"s, "GET"s, "\v/ HTTP/1.1\r\n" + evil},
        std::vector{"FOO / HTTP"s, "/1.1\r\n" + evil},
        std::vector{"FOO /" + std::string(70'000, 'x'), " HTTP/1.1\r\n" + evil},
        std::vector{"\x16"s, client_hello("evil.test").substr(1)}}) {
    const Exchange got = send_in_pieces(pieces);
    EXPECT_EQ(got.denials.size(), 1U) << pieces[0].substr(0, 9);
    EXPECT_EQ(got.heard.find("evil"), std::string::npos) << pieces[0].substr(0, 9);
    EXPECT_EQ(got.heard.find('\n'), std::string::npos) << pieces[0].substr(0, 9);
  }
  // The control: the same in pieces, for the right host, arrives as sent.
  for (const std::vector<std::string>& pieces : {std::vector{"G"s, "ET / HTTP/1.1\r\nHost: raw.test:4873\r\n\r\n"s},
                                                 std::vector{"\x16"s, client_hello("raw.test").substr(1)},
                                                 std::vector{"CONNECT {"s, "\"verbose\":true}\r\nPING\r\n"s},
                                                 std::vector{"FOO /" + std::string(70'000, 'x'), " and\nanything"s}}) {
    const Exchange got = send_in_pieces(pieces);
    EXPECT_THAT(got.denials, IsEmpty()) << pieces[0].substr(0, 9);
    EXPECT_EQ(got.heard, pieces[0] + pieces[1]);
  }
}

TEST_F(ByAddress, AHelloBehindAnotherRecordIsRefused_C24) {
  for (const std::string& before : {"\x15\x03\x01\x00\x02\x01\x5a"s, "\x14\x03\x03\x00\x01\x01"s}) {
    const Exchange got = send_in_pieces({before + client_hello("evil.test")});
    EXPECT_THAT(got.denials, ElementsAre("raw.test:4873 ambiguous tls handshake x1"));
    EXPECT_EQ(got.heard, "");
  }
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

TEST_F(ByAddress, APortNoRuleNamesIsRefusedByNameWhenTheKernelShowsIt_C24) {
  for (const Kernel kernel : {Kernel::kRefusesAtOnce, Kernel::kRedirects}) {
    Recorder server;
    Jail jail({rule_to("good.test", server.port())}, {}, kernel);
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
}

}  // namespace
}  // namespace sallyport::test
