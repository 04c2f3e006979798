#include <gmock/gmock.h>
#include <sys/socket.h>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

std::string request(std::string_view host, std::string_view more = "") {
  return "GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" + std::string(more) + "\r\n";
}

class Http : public NetTest {
 protected:
  // Answers each head, and keeps everything it receives.
  class Origin {
   public:
    [[nodiscard]] std::uint16_t port() const { return server_.port(); }
    [[nodiscard]] int connections() const { return server_.connections(); }
    [[nodiscard]] std::string heard() {
      server_.wait();
      const std::lock_guard lock(mutex_);
      return heard_;
    }

   private:
    std::mutex mutex_{};
    std::string heard_{};
    Server server_{[this](int fd) {
      for (std::string head; !(head = receive_until(fd, "\r\n\r\n")).empty();) {
        {
          const std::lock_guard lock(mutex_);
          heard_ += head;
        }
        if (head.ends_with("\r\n\r\n")) send_all(fd, kAnswer);
      }
    }};
  };
  struct Try {
    Received answer{};
    std::vector<std::string> denials{};
  };
  // Sent to good.test:80; no server receives it.
  static Try refused(std::string_view bytes) {
    Origin origin;
    Jail jail({rule_to("good.test", origin.port())}, {.timeouts = {.client = 200ms}});
    const UniqueFd client = jail.open("good.test", 80);
    if (!client || !send_all(client.get(), bytes)) return {};
    Try result{.answer = receive(client.get())};
    result.denials = texts(jail.stop());
    EXPECT_EQ(origin.connections(), 0);
    return result;
  }
};

TEST_F(Http, PassesEveryRequestForTheName_C24) {
  Origin origin;
  Jail jail({rule_to("good.test", origin.port())});
  const UniqueFd client = jail.open("good.test", 80);
  ASSERT_TRUE(client);
  std::string sent;
  for (const char* host : {"good.test", "GOOD.test:80", "good.test."}) {
    ASSERT_TRUE(send_all(client.get(), request(host)));
    sent += request(host);
    EXPECT_EQ(receive(client.get(), kAnswer.size()).bytes, kAnswer);
  }
  EXPECT_THAT(jail.stop(), IsEmpty());
  EXPECT_EQ(origin.heard(), sent);
  EXPECT_EQ(origin.connections(), 1);
}

TEST_F(Http, AnswersARequestForAnotherHostWithItsNameAndTheOptionThatAllowsIt_C24) {
  const Try other = refused(request("evil.test"));
  EXPECT_THAT(other.answer.bytes, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(other.answer.bytes, HasSubstr("evil.test is refused"));
  EXPECT_THAT(other.answer.bytes, HasSubstr("\nhint: allow evil.test in the call"));
  EXPECT_TRUE(other.answer.ended);
  EXPECT_THAT(other.denials, ElementsAre("evil.test:80 host header differs x1"));
}

TEST_F(Http, RefusesTheSecondRequestOfAKeptConnectionWhenItIsForAnotherHost_C24) {
  Origin origin;
  Jail jail({rule_to("good.test", origin.port())});
  const UniqueFd client = jail.open("good.test", 80);
  ASSERT_TRUE(send_all(client.get(), request("good.test")));
  ASSERT_EQ(receive(client.get(), kAnswer.size()).bytes, kAnswer);
  ASSERT_TRUE(send_all(client.get(), request("evil.test")));
  EXPECT_THAT(receive(client.get()).bytes, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(texts(jail.stop()), ElementsAre("evil.test:80 host header differs x1"));
  EXPECT_EQ(origin.heard(), request("good.test"));
}

TEST_F(Http, NeverPassesARefusedRequestThatWasSentAlongWithAnAllowedOne_C24) {
  Origin origin;
  Jail jail({rule_to("good.test", origin.port())});
  const UniqueFd client = jail.open("good.test", 80);
  ASSERT_TRUE(send_all(client.get(), request("good.test") + request("evil.test")));
  static_cast<void>(receive(client.get()));
  EXPECT_THAT(texts(jail.stop()), ElementsAre("evil.test:80 host header differs x1"));
  EXPECT_THAT(origin.heard(), Not(HasSubstr("evil")));
}

TEST_F(Http, RefusesWhatCouldBeReadInTwoWays_C24) {
  for (const std::string& bytes :
       {request("good.test", "Host: evil.test\r\n"), request("good.test:8080"),
        std::string("GET http://evil.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
        request("127.0.0.1"),
        std::string("POST / HTTP/1.1\r\nHost: good.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n")}) {
    const Try two_ways = refused(bytes);
    EXPECT_EQ(two_ways.denials.size(), 1U) << bytes;
    EXPECT_THAT(two_ways.answer.bytes, StartsWith("HTTP/1.1 403 ")) << bytes;
  }
}

TEST_F(Http, RefusesToBecomeATunnel_C24) {
  EXPECT_THAT(refused("CONNECT good.test:80 HTTP/1.1\r\nHost: good.test:80\r\n\r\n").denials,
              ElementsAre("good.test:80 http upgrade x1"));
  EXPECT_THAT(refused(request("good.test", "Connection: upgrade\r\nUpgrade: websocket\r\n")).denials,
              ElementsAre("good.test:80 http upgrade x1"));
  EXPECT_THAT(refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").denials, ElementsAre("good.test:80 http upgrade x1"));
}

TEST_F(Http, ResetsAConnectionThatDoesNotSpeakHttp) {
  const Try raw = refused("EHLO me\r\n");
  EXPECT_EQ(raw.answer.error, ECONNRESET);
  EXPECT_THAT(raw.denials, ElementsAre("good.test:80 not http x1"));
}

TEST_F(Http, EndsAClientThatDoesNotFinishItsHead) {
  const Try slow = refused("GET / HTTP/1.1\r\nHost: good.te");
  EXPECT_EQ(slow.answer.error, ECONNRESET);
  EXPECT_THAT(slow.denials, ElementsAre("good.test:80 client too slow x1"));
}

TEST_F(Http, EndsAnEndlessHead) {
  const Try endless = refused(request("good.test", "X: " + std::string(100'000, 'x') + "\r\n"));
  EXPECT_THAT(endless.denials, ElementsAre("good.test:80 ambiguous http request x1"));
}

TEST_F(Http, PassesBodiesByteForByteAndChecksTheRequestBehindThem_C24) {
  const std::string large(3'000'000, 'b');
  const std::string first = "POST / HTTP/1.1\r\nHost: good.test\r\nContent-Length: 3000000\r\n\r\n" + large;
  const std::string second = "POST / HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" +
                             std::string(0x100000, 'c') + "\r\n5\r\nhello\r\n0\r\n\r\n";
  std::string heard;
  Server server([&](int fd) {
    heard = receive(fd, first.size() + second.size()).bytes;
    send_all(fd, kAnswer);
    heard += receive(fd).bytes;
  });
  Jail jail({rule_to("good.test", server.port())});
  const UniqueFd client = jail.open("good.test", 80);
  ASSERT_TRUE(send_all(client.get(), first + second));
  ASSERT_EQ(receive(client.get(), kAnswer.size()).bytes, kAnswer);
  ASSERT_TRUE(send_all(client.get(), request("evil.test")));
  EXPECT_THAT(receive(client.get()).bytes, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(texts(jail.stop()), ElementsAre("evil.test:80 host header differs x1"));
  server.wait();
  EXPECT_TRUE(heard == first + second);
}

}  // namespace
}  // namespace sallyport::test
