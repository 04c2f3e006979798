#include <gmock/gmock.h>
#include <sys/socket.h>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kUnrecognizedName("\x15\x03\x03\x00\x02\x02\x70", 7);
constexpr std::string_view kAccessDenied("\x15\x03\x03\x00\x02\x02\x31", 7);
constexpr std::uint16_t kPadding = 21;
constexpr std::uint16_t kEarlyData = 42;
constexpr std::uint16_t kEncryptedHello = 0xfe0d;

class Tls : public NetTest {
 protected:
  // The answer to a client that sends `bytes` to good.test:443, and everything that the server receives.
  struct Try {
    Received answer{};
    std::string heard{};
    std::vector<std::string> denials{};
  };
  static Try attempt(std::string_view bytes) {
    Recorder server;
    Jail jail({rule_to("good.test", server.port())}, {.timeouts = {.client = 200ms}});
    const UniqueFd client = jail.open("good.test", 443);
    if (!client || !send_all(client.get(), bytes)) return {};
    Try result{.answer = receive(client.get())};
    result.denials = texts(jail.stop());
    result.heard = server.received_at_end();
    EXPECT_EQ(server.connections(), 0);
    return result;
  }
  // The positive control for all of them.
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
  EXPECT_EQ(other.answer.bytes, kUnrecognizedName);
  EXPECT_TRUE(other.answer.ended);
  EXPECT_EQ(other.heard, "");
  EXPECT_THAT(other.denials, ElementsAre("evil.test:443 server name differs x1"));
}

TEST_F(Tls, RefusesAHelloWithoutAServerName_C24) {
  const Try none = attempt(client_hello(""));
  EXPECT_EQ(none.answer.bytes, kUnrecognizedName);
  EXPECT_THAT(none.denials, ElementsAre("good.test:443 no server name x1"));
}

TEST_F(Tls, RefusesAnEncryptedHelloAlthoughItsOuterNameIsAllowed_C24) {
  const Try hidden = attempt(client_hello("good.test", tls_extension(kEncryptedHello, "inner")));
  EXPECT_EQ(hidden.answer.bytes, kAccessDenied);
  EXPECT_THAT(hidden.denials, ElementsAre("good.test:443 encrypted client hello x1"));
}

TEST_F(Tls, RefusesEarlyDataBehindWhichAnotherNameCouldFollow_C24) {
  const Try early = attempt(client_hello("good.test", tls_extension(kEarlyData, "")));
  EXPECT_EQ(early.answer.bytes, kAccessDenied);
  EXPECT_THAT(early.denials, ElementsAre("good.test:443 early data x1"));
}

TEST_F(Tls, ResetsAConnectionThatDoesNotSpeakTls) {
  const Try http = attempt("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n");
  EXPECT_EQ(http.answer.bytes, "");
  EXPECT_EQ(http.answer.error, ECONNRESET);
  EXPECT_THAT(http.denials, ElementsAre("good.test:443 not tls x1"));
}

TEST_F(Tls, EndsAClientThatDoesNotFinishItsHello) {
  const Try slow = attempt(client_hello("good.test").substr(0, 40));
  EXPECT_EQ(slow.answer.error, ECONNRESET);
  EXPECT_THAT(slow.denials, ElementsAre("good.test:443 client too slow x1"));
}

TEST_F(Tls, ClosesASilentClientWithoutBlame) {
  const Try silent = attempt("");
  EXPECT_TRUE(silent.answer.ended);
  EXPECT_THAT(silent.denials, IsEmpty());
}

constexpr std::string_view kChangeCipherSpec("\x14\x03\x03\x00\x01\x01", 6);
constexpr std::string_view kWarning("\x15\x03\x03\x00\x02\x01\x5a", 7);
constexpr std::string_view kData("\x17\x03\x03\x00\x01z", 6);
constexpr std::string_view kKeyExchange("\x16\x03\x03\x00\x05\x10\x00\x00\x01k", 10);
constexpr std::string_view kEncryptedFinished("\x16\x03\x03\x00\x04\x01\xff\xff\xff", 9);

// A ServerHello, or one that asks for another hello.
std::string server_hello(bool retry) {
  static constexpr std::string_view kHead("\x16\x03\x03\x00\x2c\x02\x00\x00\x28\x03\x03", 11);
  static constexpr std::string_view kRetry =
      "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
      "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
  static constexpr std::string_view kRandom = "a random of thirty-two characters"sv.substr(0, 32);
  static constexpr std::string_view kTail("\x00\x13\x01\x00\x00\x00", 6);
  return std::string(kHead).append(retry ? kRetry : kRandom).append(kTail);
}

// A client that sends its hello, gets `answer`, and sends `second`: what the server received after the hello.
struct SecondFlight {
  std::string heard{};
  std::vector<std::string> denials{};
};
SecondFlight fly(std::string_view answer, std::string_view second) {
  const std::string first = client_hello("good.test");
  Recorder recorder{std::string(answer)};
  Jail jail({rule_to("good.test", recorder.port())});
  const UniqueFd client = jail.open("good.test", 443);
  if (!client || !send_all(client.get(), first)) return {};
  EXPECT_EQ(receive(client.get(), answer.size()).bytes, answer);
  send_all(client.get(), second);
  ::shutdown(client.get(), SHUT_WR);
  static_cast<void>(receive(client.get()));
  SecondFlight result{.denials = texts(jail.stop())};
  result.heard = recorder.received_at_end();
  EXPECT_TRUE(result.heard.starts_with(first));
  result.heard.erase(0, first.size());
  return result;
}

TEST_F(Tls, ChecksASecondHelloLikeTheFirst_C24) {
  const std::string same = std::string(kChangeCipherSpec) + client_hello("good.test");
  const SecondFlight honest = fly(server_hello(true), same);
  EXPECT_EQ(honest.heard, same);
  EXPECT_THAT(honest.denials, IsEmpty());
  for (const std::string& before :
       {std::string(), std::string(kChangeCipherSpec), std::string(kWarning), std::string(kWarning).append(kWarning),
        std::string(kWarning).append(kChangeCipherSpec).append(kWarning), client_hello("good.test")}) {
    const SecondFlight other = fly(server_hello(true), before + client_hello("evil.test"));
    EXPECT_THAT(other.denials, ElementsAre("evil.test:443 server name differs x1"));
    EXPECT_TRUE(before.starts_with(other.heard)) << "nothing of the other hello went out";
  }
}

TEST_F(Tls, LetsNothingStandBetweenTwoHellosThatCouldHideTheSecond_C24) {
  for (const std::string_view before :
       {kData, kKeyExchange, kEncryptedFinished, std::string_view("\x16\x03\x03\x00\x00", 5),
        std::string_view("\x17\x03\x03\x00\x00", 5), std::string_view("\x18\x03\x03\x00\x01x", 6),
        std::string_view("\x15\x03\x03\x00\x00", 5), std::string_view("\x80\x2e\x01", 3)}) {
    const SecondFlight other = fly(server_hello(true), std::string(before) + client_hello("evil.test"));
    EXPECT_THAT(other.denials, ElementsAre("good.test:443 ambiguous tls handshake x1"));
    EXPECT_EQ(other.heard, "");
  }
}

TEST_F(Tls, FollowsTheHandshakeNoFurtherThanTheClientsAnswerToTheServersChoice) {
  // TLS 1.3 with and without its change_cipher_spec, TLS 1.2, and a resumed session of TLS 1.2.
  const std::string chosen = server_hello(false);
  for (const std::string& second : {std::string(kData), std::string(kChangeCipherSpec).append(kData),
                                    std::string(kKeyExchange).append(kChangeCipherSpec),
                                    std::string(kChangeCipherSpec).append(kEncryptedFinished), std::string(kWarning)}) {
    const SecondFlight honest = fly(chosen, second + (second == kWarning ? "" : "anything"));
    EXPECT_EQ(honest.heard, second + (second == kWarning ? "" : "anything"));
    EXPECT_THAT(honest.denials, IsEmpty());
  }
  // Until then some old servers read another hello: they restart the handshake (SGC).
  const SecondFlight again = fly(chosen, client_hello("evil.test"));
  EXPECT_THAT(again.denials, ElementsAre("evil.test:443 server name differs x1"));
  EXPECT_EQ(again.heard, "");
}

TEST_F(Tls, DoesNotTakeWhatItCannotReadForTheServersChoice_C24) {
  const SecondFlight other = fly("HTTP/1.1 400 Bad Request\r\n\r\n", kData);
  EXPECT_THAT(other.denials, ElementsAre("good.test:443 ambiguous tls handshake x1"));
  EXPECT_EQ(other.heard, "");
}

}  // namespace
}  // namespace sallyport::test
