// Many connections, few descriptors, and the end of a run.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <filesystem>
#include <thread>

#include "egress/pipe_pool.h"
#include "egress/test_jail.h"

namespace sallyport::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class EgressLimits : public NetTest {
 protected:
  static std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  }
  static bool readable(int fd) {
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  static void echo(int fd) {
    for (Received part; !(part = receive(fd, 1)).bytes.empty();) send_all(fd, part.bytes);
  }
  static bool answers(int fd) { return send_all(fd, "\x01") && receive(fd, 1).bytes == "\x01"; }
};

TEST_F(EgressLimits, FiveHundredConnectionsCostTwoDescriptorsEachAndLeaveNone) {
  // The test itself needs three more for each: the client, and both ends of the server's connection.
  constexpr std::ptrdiff_t kMany = 500;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_cur, 2200U);
  Server server(echo);
  const std::ptrdiff_t before = open_descriptors();
  {
    Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
    const std::ptrdiff_t idle = open_descriptors();
    std::vector<UniqueFd> clients;
    for (std::ptrdiff_t i = 0; i < kMany; ++i) clients.push_back(jail.open("raw.test", kNamedPort));
    for (const UniqueFd& client : clients) ASSERT_TRUE(answers(client.get()));
    const auto pool = static_cast<std::ptrdiff_t>(2 * PipePool::kMostIdle);
    EXPECT_LE(open_descriptors() - idle, kMany * (2 + 1 + 1) + pool + 1);
    for (const UniqueFd& client : clients) ASSERT_TRUE(answers(client.get()));
    EXPECT_THAT(jail.stop(), IsEmpty());
    EXPECT_EQ(receive(clients.back().get()).bytes, "");
  }
  server.wait();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(EgressLimits, OneConnectionTooManyWaitsForItsTurn) {
  Server server(echo);
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})}, {.max_connections = 2});
  UniqueFd first = jail.open("raw.test", kNamedPort);
  const UniqueFd second = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(answers(first.get()));
  ASSERT_TRUE(answers(second.get()));
  const UniqueFd third = jail.open("raw.test", kNamedPort);  // into the kernel's queue
  ASSERT_TRUE(send_all(third.get(), "\x01"));
  ASSERT_TRUE(answers(second.get()));
  EXPECT_EQ(server.connections(), 2);
  first.reset();
  EXPECT_EQ(receive(third.get(), 1).bytes, "\x01");
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(EgressLimits, WithoutDescriptorsConnectionsWaitAndAreServedWhenSomeAreFree) {
  Server server([](int fd) { echo(fd); });
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  std::vector<UniqueFd> clients;
  const DnsReply where = jail.ask("raw.test", kDnsTypeA);
  for (int i = 0; i < 10; ++i) clients.push_back(jail.net().socket(false, SOCK_STREAM));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(open_descriptors());
  // Take the free numbers below the limit, which could still be used.
  std::vector<UniqueFd> plugs;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  for (UniqueFd plug(::dup(0)); plug; plug = UniqueFd(::dup(0))) plugs.push_back(std::move(plug));
  const SocketAddress to = socket_address({.address = *where.address, .port = kNamedPort});
  for (const UniqueFd& client : clients) {
    ASSERT_EQ(::connect(client.get(), to.get(), to.length), 0);
    ASSERT_TRUE(send_all(client.get(), "\x01"));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (const UniqueFd& client : clients) EXPECT_FALSE(readable(client.get()));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const UniqueFd& client : clients) EXPECT_EQ(receive(client.get(), 1).bytes, "\x01");
  EXPECT_THAT(jail.stop(), IsEmpty());
}

TEST_F(EgressLimits, StopsAtOnceWhateverIsUnderWay) {
  Server silent([](int fd) { static_cast<void>(receive(fd)); });
  EgressOptions options{.nameserver = at("127.0.0.1", 9)};
  Jail jail({rule_to("silent.test", silent.port(), {kNamedPort}), rule_for("unresolved.test", {kNamedPort}),
             rule_to("tls.test", silent.port())},
            std::move(options));
  std::vector<UniqueFd> clients;
  for (const char* name : {"silent.test", "unresolved.test"}) {
    clients.push_back(jail.open(name, kNamedPort));
    ASSERT_TRUE(send_all(clients.back().get(), std::string(100'000, '\x01')));
  }
  clients.push_back(jail.open("tls.test", 443));
  ASSERT_TRUE(send_all(clients.back().get(), client_hello("tls.test").substr(0, 20)));
  static_cast<void>(jail.stop());
  for (const UniqueFd& client : clients) EXPECT_EQ(receive(client.get()).bytes, "");
  EXPECT_THAT(jail.stop(), IsEmpty());  // a second call does no harm
}

TEST_F(EgressLimits, ReportsTheFirstRefusalAtOnce) {
  Jail jail({rule_for("good.test")});
  static_cast<void>(jail.ask("good.test", kDnsTypeA));
  EXPECT_FALSE(readable(jail.proxy().first_denial_fd()));
  static_cast<void>(jail.ask("evil.test", kDnsTypeA));
  EXPECT_TRUE(readable(jail.proxy().first_denial_fd()));
  EXPECT_THAT(jail.stop(), SizeIs(1));
}

TEST_F(EgressLimits, ManyRunsAtOnceKnowNothingOfEachOther) {
  Server server(echo);
  std::vector<std::unique_ptr<Jail>> jails;
  for (int i = 0; i < 20; ++i) {
    jails.push_back(std::make_unique<Jail>(
        std::vector{rule_to("host" + std::to_string(i) + ".test", server.port(), {kNamedPort})}));
  }
  std::vector<std::thread> tools;
  std::atomic<int> right = 0;
  for (std::size_t i = 0; i < jails.size(); ++i) {
    tools.emplace_back([&, i] {
      const UniqueFd client = jails[i]->open("host" + std::to_string(i) + ".test", kNamedPort);
      const DnsReply other = jails[i]->ask("host" + std::to_string((i + 1) % 20) + ".test", kDnsTypeA);
      if (client && answers(client.get()) && !other.address) ++right;
    });
  }
  for (std::thread& tool : tools) tool.join();
  EXPECT_EQ(right, 20);
  for (const std::unique_ptr<Jail>& jail : jails) EXPECT_THAT(jail->stop(), SizeIs(1));
}

}  // namespace
}  // namespace sallyport::test
