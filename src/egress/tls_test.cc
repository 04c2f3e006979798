#include <gmock/gmock.h>
#include <sys/socket.h>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kUnrecognizedName("\x15\x03\x03\x00\x02\x02\x70", 7);
constexpr std::string_view kAccessDenied("\x15\x03\x03\x00\x02\x02\x31", 7);
constexpr std::uint16_t kPadding = 21;
constexpr std::uint16_t kEarlyData = 42;
constexpr std::uint16_t kEncryptedHello = 0xfe0d;

class Tls : public NetTest {
 protected:
  // What a client that sends `bytes` to good.test:443 is told, and everything the server hears of it.
  struct Try {
    Received told{};
    std::string heard{};
    std::vector<std::string> denials{};
  };
  static Try attempt(std::string_view bytes) {
    Recorder server;
    Jail jail({rule_to("good.test", server.port())}, {.timeouts = {.client = 200ms}});
    const UniqueFd client = jail.open("good.test", 443);
    if (!client || !send_all(client.get(), bytes)) return {};
    Try result{.told = receive(client.get())};
    result.denials = texts(jail.stop());
    result.heard = server.received_at_end();
    EXPECT_EQ(server.connections(), 0);
    return result;
  }
  // The positive control of them all.
  static void expect_passes(std::string_view bytes, const std::function<void(int)>& send) {
    Server server([&](int fd) {
      const std::string heard = receive(fd, bytes.size()).bytes;
      EXPECT_EQ(heard, bytes);
      send_all(fd, "server hello");
    });
    Jail jail({rule_to("good.test", server.port())});
    for (const bool v6 : {false, true}) {
      const UniqueFd client = jail.open("good.test", 443, v6);
      ASSERT_TRUE(client);
      send(client.get());
      EXPECT_EQ(receive(client.get(), 12).bytes, "server hello");
    }
    EXPECT_THAT(jail.stop(), IsEmpty());
    EXPECT_EQ(server.connections(), 2);
  }
};

TEST_F(Tls, PassesWhenTheServerNameIsTheName_C24) {
  const std::string hello = client_hello("Good.TEST");
  expect_passes(hello, [&](int fd) { send_all(fd, hello); });
}

TEST_F(Tls, PassesAHelloSentByteByByte) {
  const std::string hello = client_hello("good.test");
  expect_passes(hello, [&](int fd) {
    const int on = 1;
    ::setsockopt(fd, 6, 1 /* TCP_NODELAY */, &on, sizeof on);
    for (const char byte : hello) send_all(fd, {&byte, 1});
  });
}

TEST_F(Tls, FindsAServerNameBeyondTheFirstKilobytes) {
  const std::string hello = client_hello("good.test", tls_extension(kPadding, std::string(9000, '\0')));
  expect_passes(hello, [&](int fd) { send_all(fd, hello); });
  const Try other = attempt(client_hello("evil.test", tls_extension(kPadding, std::string(9000, '\0'))));
  EXPECT_THAT(other.denials, ElementsAre("evil.test:443 server name differs x1"));
}

TEST_F(Tls, RefusesAnotherServerNameWithAnAlertAndNothingGoesOut_C24) {
  const Try other = attempt(client_hello("evil.test"));
  EXPECT_EQ(other.told.bytes, kUnrecognizedName);
  EXPECT_TRUE(other.told.ended);
  EXPECT_EQ(other.heard, "");
  EXPECT_THAT(other.denials, ElementsAre("evil.test:443 server name differs x1"));
}

TEST_F(Tls, RefusesAHelloWithoutAServerName_C24) {
  const Try none = attempt(client_hello(""));
  EXPECT_EQ(none.told.bytes, kUnrecognizedName);
  EXPECT_THAT(none.denials, ElementsAre("good.test:443 no server name x1"));
}

TEST_F(Tls, RefusesAnEncryptedHelloAlthoughItsOuterNameIsAllowed_C24) {
  const Try hidden = attempt(client_hello("good.test", tls_extension(kEncryptedHello, "inner")));
  EXPECT_EQ(hidden.told.bytes, kAccessDenied);
  EXPECT_THAT(hidden.denials, ElementsAre("good.test:443 encrypted client hello x1"));
}

TEST_F(Tls, RefusesEarlyDataBehindWhichAnotherNameCouldFollow_C24) {
  const Try early = attempt(client_hello("good.test", tls_extension(kEarlyData, "")));
  EXPECT_EQ(early.told.bytes, kAccessDenied);
  EXPECT_THAT(early.denials, ElementsAre("good.test:443 early data x1"));
}

TEST_F(Tls, ResetsWhoDoesNotSpeakTls) {
  const Try http = attempt("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n");
  EXPECT_EQ(http.told.bytes, "");
  EXPECT_EQ(http.told.error, ECONNRESET);
  EXPECT_THAT(http.denials, ElementsAre("good.test:443 not tls x1"));
}

TEST_F(Tls, EndsAClientThatDoesNotFinishItsHello) {
  const Try slow = attempt(client_hello("good.test").substr(0, 40));
  EXPECT_EQ(slow.told.error, ECONNRESET);
  EXPECT_THAT(slow.denials, ElementsAre("good.test:443 client too slow x1"));
}

TEST_F(Tls, ClosesASilentClientWithoutBlame) {
  const Try silent = attempt("");
  EXPECT_TRUE(silent.told.ended);
  EXPECT_THAT(silent.denials, IsEmpty());
}

TEST_F(Tls, ChecksASecondHelloLikeTheFirst_C24) {
  constexpr std::string_view kChangeCipherSpec("\x14\x03\x03\x00\x01\x01", 6);
  for (const bool same : {true, false}) {
    Recorder server("hello retry request");
    Jail jail({rule_to("good.test", server.port())});
    const UniqueFd client = jail.open("good.test", 443);
    ASSERT_TRUE(client);
    const std::string first = client_hello("good.test");
    const std::string second = std::string(kChangeCipherSpec) + client_hello(same ? "good.test" : "evil.test");
    ASSERT_TRUE(send_all(client.get(), first));
    ASSERT_EQ(receive(client.get(), 19).bytes, "hello retry request");
    ASSERT_TRUE(send_all(client.get(), second + "finished"));
    ::shutdown(client.get(), SHUT_WR);
    static_cast<void>(receive(client.get()));
    const std::vector<std::string> denials = texts(jail.stop());
    if (same) {
      EXPECT_THAT(denials, IsEmpty());
      EXPECT_EQ(server.received_at_end(), first + second + "finished");
    } else {
      EXPECT_THAT(denials, ElementsAre("evil.test:443 server name differs x1"));
      EXPECT_EQ(server.received_at_end(), first);
    }
  }
}

}  // namespace
}  // namespace sallyport::test
