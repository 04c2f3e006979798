#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <latch>
#include <thread>

#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RelayTest : public NetTest {};

// A stream that repeats itself after a prime number of bytes, so that a lost, doubled or swapped block shows.
constexpr std::size_t kPeriod = 65521;

const std::string& pattern() {
  static const std::string twice = [] {
    std::string bytes;
    for (std::size_t i = 0; i < kPeriod; ++i) bytes += static_cast<char>((i * 2654435761U) >> 16 & 0xff);
    return bytes + bytes;
  }();
  return twice;
}

bool send_pattern(int fd, std::uint64_t count) {
  for (std::uint64_t place = 0; place < count;) {
    const std::size_t size = std::min<std::uint64_t>(kPeriod, count - place);
    if (!send_all(fd, std::string_view(pattern()).substr(place % kPeriod, size))) return false;
    place += size;
  }
  return true;
}

// How many bytes of the pattern came before its end or the first wrong block.
std::uint64_t receive_pattern(int fd) {
  std::string block(kPeriod, '\0');
  std::uint64_t place = 0;
  while (true) {
    const ssize_t got = ::recv(fd, block.data(), block.size(), 0);
    if (got <= 0) return place;
    const std::string_view came(block.data(), static_cast<std::size_t>(got));
    if (came != std::string_view(pattern()).substr(place % kPeriod, came.size())) return place;
    place += came.size();
  }
}

TEST_F(RelayTest, MovesMuchBothWaysAtOnceByteForByte) {
  constexpr std::uint64_t kMuch = 256U << 20;
  std::uint64_t up = 0;
  Server server([&](int fd) {
    std::thread sender([fd] {
      send_pattern(fd, kMuch);
      ::shutdown(fd, SHUT_WR);
    });
    up = receive_pattern(fd);
    sender.join();
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(client);
  std::thread sender([&] {
    send_pattern(client.get(), kMuch);
    ::shutdown(client.get(), SHUT_WR);
  });
  EXPECT_EQ(receive_pattern(client.get()), kMuch);
  sender.join();
  server.wait();
  EXPECT_EQ(up, kMuch);
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(RelayTest, PassesTheEndOfOneDirectionOnWhileTheOtherGoesOn) {
  Server server([](int fd) {
    const std::string all = receive(fd).bytes;  // until the client's end
    send_all(fd, "got " + std::to_string(all.size()));
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(client.get(), std::string(1000, '\x01')));
  ::shutdown(client.get(), SHUT_WR);
  const Received answer = receive(client.get());
  EXPECT_EQ(answer.bytes, "got 1000");
  EXPECT_TRUE(answer.ended);
}

TEST_F(RelayTest, PassesTheServersEndOnWhileTheClientGoesOn) {
  std::string heard;
  Server server([&](int fd) {
    ::shutdown(fd, SHUT_WR);
    heard = receive(fd).bytes;
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  {
    const UniqueFd client = jail.open("raw.test", kNamedPort);
    EXPECT_TRUE(receive(client.get()).ended);
    ASSERT_TRUE(send_all(client.get(), "\x01 later"));
    ::shutdown(client.get(), SHUT_WR);
    EXPECT_TRUE(receive(client.get()).ended);
  }
  server.wait();
  EXPECT_EQ(heard, "\x01 later");
}

TEST_F(RelayTest, PassesResetsOnBothWays) {
  std::atomic<int> server_error = -1;
  Server server([&](int fd) {
    const Received first = receive(fd, 1);
    if (first.bytes == "\x01") {
      const linger reset{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      return;
    }
    send_all(fd, "ok");
    server_error = receive(fd).error;
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd by_server = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(by_server.get(), "\x01"));
  EXPECT_EQ(receive(by_server.get()).error, ECONNRESET);

  UniqueFd by_client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(by_client.get(), "\x02"));
  ASSERT_EQ(receive(by_client.get(), 2).bytes, "ok");
  close_with_reset(std::move(by_client));
  while (server_error < 0) std::this_thread::yield();
  EXPECT_EQ(server_error, ECONNRESET);
}

TEST_F(RelayTest, DeliversAnAnswerGivenBeforeTheWholeRequestWasRead) {
  Server server([](int fd) {
    static_cast<void>(receive(fd, 10));
    send_all(fd, "413 too much");
    // Closed with unread bytes: a reset follows.
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  std::thread sender([&] { send_all(client.get(), std::string(20'000'000, '\x01')); });
  const Received answer = receive(client.get(), 12);
  sender.join();
  EXPECT_EQ(answer.bytes, "413 too much");
}

TEST_F(RelayTest, AClientThatNeverReadsStopsTheServerAndNobodyElse) {
  std::atomic<std::uint64_t> sent = 0;
  Server flood([&](int fd) {
    const std::string block(1 << 16, 'f');
    for (int quiet = 0; quiet < 10;) {
      const ssize_t put = ::send(fd, block.data(), block.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put > 0) {
        sent += static_cast<std::uint64_t>(put);
        quiet = 0;
      } else {
        if (errno != EAGAIN) return;
        pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
        if (::poll(&writable, 1, 50) == 0) ++quiet;
      }
    }
  });
  Recorder other("fine");
  Jail jail({rule_to("flood.test", flood.port(), {kNamedPort}), rule_to("other.test", other.port(), {kNamedPort})});
  std::vector<UniqueFd> never_read;
  // More connections than pipes.
  for (int i = 0; i < 80; ++i) never_read.push_back(jail.open("flood.test", kNamedPort));
  const UniqueFd client = jail.open("other.test", kNamedPort);
  EXPECT_EQ(receive(client.get(), 4).bytes, "fine");
  // For each at most two socket buffers of 6 MiB, and what a pipe holds.
  EXPECT_LT(sent, 80U * (20U << 20));
  EXPECT_GT(sent, 0U);
}

TEST_F(RelayTest, ManyClientsAtOncePassWithoutPipesToo) {
  // They all hold bytes in flight at once, so most get no pipe.
  Server server([](int fd) {
    const std::uint64_t count = receive_pattern(fd);
    send_all(fd, std::to_string(count));
  });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&] {
      const UniqueFd client = jail.open("raw.test", kNamedPort);
      send_pattern(client.get(), 3'000'000);
      ::shutdown(client.get(), SHUT_WR);
      if (receive(client.get()).bytes == "3000000") ++right;
    });
  }
  for (std::thread& thread : clients) thread.join();
  EXPECT_EQ(right, 100);
}

struct ByteBudget {
  std::optional<ByteCount> max_up{};
  std::optional<ByteCount> max_down{};
};

HostRule with_budget(std::uint16_t server, ByteBudget budget) {
  HostRuleFields fields = rule_to("raw.test", server, {kNamedPort}).fields();
  fields.max_up = budget.max_up;
  fields.max_down = budget.max_down;
  return HostRule::of(std::move(fields)).value();
}

TEST_F(RelayTest, NoByteMorePassesUpThanTheBudgetOfTheRule) {
  Recorder server;
  Jail jail({with_budget(server.port(), {.max_up = ByteCount{10'000}})});
  {
    const UniqueFd first = jail.open("raw.test", kNamedPort);
    ASSERT_TRUE(send_all(first.get(), std::string(6'000, '\x01')));
    ::shutdown(first.get(), SHUT_WR);
    EXPECT_TRUE(receive(first.get()).ended);
  }
  const UniqueFd second = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(second.get(), std::string(4'000, '\x01')));
  while (server.received().size() < 10'000) std::this_thread::yield();
  send_all(second.get(), "x");
  EXPECT_EQ(receive(second.get()).error, ECONNRESET);
  EXPECT_THAT(texts(jail.stop()), ElementsAre("raw.test:4873 byte budget x1"));
  EXPECT_EQ(server.received_at_end().size(), 10'000U);
}

TEST_F(RelayTest, NoByteMorePassesDownThanTheBudgetOfTheRule) {
  Server server([](int fd) {
    send_all(fd, std::string(20'000, 'd'));
    static_cast<void>(receive(fd));
  });
  Jail jail({with_budget(server.port(), {.max_down = ByteCount{10'000}})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  const Received answer = receive(client.get());
  EXPECT_EQ(answer.bytes.size(), 10'000U);
  EXPECT_EQ(answer.error, ECONNRESET);
  EXPECT_THAT(texts(jail.stop()), ElementsAre("raw.test:4873 byte budget x1"));
}

TEST_F(RelayTest, AnExactlySpentBudgetIsNoDenial) {
  Recorder server(std::string(10'000, 'd'));
  Jail jail({with_budget(server.port(), {.max_up = ByteCount{3}, .max_down = ByteCount{10'000}})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(client.get(), "\x01yz"));
  ::shutdown(client.get(), SHUT_WR);
  const Received answer = receive(client.get());
  EXPECT_EQ(answer.bytes.size(), 10'000U);
  EXPECT_TRUE(answer.ended);
  EXPECT_THAT(jail.stop(), IsEmpty());
}

}  // namespace
}  // namespace sallyport::test
