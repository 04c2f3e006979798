// A kernel that is short of socket memory: the kernel refuses writes although the socket has room, and no event reports
// when it would accept them again. The linker replaces this program's splice, send and pipe2 by those below, so that
// the test can cause it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "egress/relay.h"
#include "egress/test_jail.h"

namespace {

std::atomic<int> refused_writes = 0;  // still to be refused
std::atomic<int> refusal_error = EAGAIN;
std::atomic<bool> no_pipes = false;

bool refuse_this_write(int fd) {
  struct stat kind{};
  if (refused_writes <= 0 || ::fstat(fd, &kind) != 0 || !S_ISSOCK(kind.st_mode)) return false;
  if (refused_writes.fetch_sub(1) <= 0) return false;
  errno = refusal_error;
  return true;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's
ssize_t __real_splice(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags);
ssize_t __real_send(int fd, const void* bytes, size_t size, int flags);
int __real_pipe2(int* ends, int flags);

ssize_t __wrap_splice(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags) {
  return refuse_this_write(to) ? -1 : __real_splice(from, from_at, to, to_at, size, flags);
}

ssize_t __wrap_send(int fd, const void* bytes, size_t size, int flags) {
  // Blocking sockets belong to the test.
  const bool ours = (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
  return ours && refuse_this_write(fd) ? -1 : __real_send(fd, bytes, size, flags);
}

int __wrap_pipe2(int* ends, int flags) {
  if (!no_pipes) return __real_pipe2(ends, flags);
  errno = EMFILE;
  return -1;
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace sallyport::test {
namespace {

using ::testing::IsEmpty;

class NoMemory : public NetTest, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int kTimes = 3;
  NoMemory() { refusal_error = GetParam(); }
  ~NoMemory() override {
    refused_writes = 0;
    no_pipes = false;
  }

  // The server sends, the client answers, the server repeats: after each pause only one of them has bytes to move.
  static void talk() {
    Server server([](int fd) {
      send_all(fd, "hello");
      send_all(fd, receive(fd, 5).bytes);
    });
    Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
    refused_writes = kTimes;
    const UniqueFd client = jail.open("raw.test", kNamedPort);
    EXPECT_EQ(receive(client.get(), 5).bytes, "hello");
    EXPECT_EQ(refused_writes, 0);
    refused_writes = kTimes;
    ASSERT_TRUE(send_all(client.get(), "\x01 you"));  // first bytes: checked, then sent
    EXPECT_EQ(receive(client.get(), 5).bytes, "\x01 you");
    EXPECT_EQ(refused_writes, 0);
    EXPECT_THAT(jail.stop(), IsEmpty());
  }
};

TEST_P(NoMemory, BytesArriveAllTheSame) { talk(); }

TEST_P(NoMemory, BytesArriveWithoutPipesToo) {
  no_pipes = true;
  talk();
}

// After the check we splice the client's bytes like the server's.
TEST_P(NoMemory, LaterBytesOfTheClientArriveToo) {
  Recorder server("hello");
  Jail jail({rule_to("raw.test", server.port(), {kNamedPort})});
  const UniqueFd client = jail.open("raw.test", kNamedPort);
  ASSERT_TRUE(send_all(client.get(), "\x01"));
  while (server.received() != "\x01") std::this_thread::yield();
  refused_writes = kTimes;
  ASSERT_TRUE(send_all(client.get(), "more"));
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(receive(client.get()).bytes, "hello");
  EXPECT_EQ(server.received_at_end(), "\x01more");
  EXPECT_EQ(refused_writes, 0);
}

INSTANTIATE_TEST_SUITE_P(, NoMemory, ::testing::Values(EAGAIN, ENOBUFS, ENOMEM), [](const auto& test) {
  return std::string(test.param == EAGAIN ? "EAGAIN" : test.param == ENOBUFS ? "ENOBUFS" : "ENOMEM");
});

// Two non-blocking ends of a TCP connection.
struct SocketPair {
  SocketPair() {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress any = socket_address(at("127.0.0.1", 0));
    if (::bind(listener.get(), any.get(), any.length) != 0 || ::listen(listener.get(), 1) != 0) std::abort();
    const SocketAddress address = socket_address(*local_endpoint(listener.get()));
    near = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(near.get(), address.get(), address.length) != 0) std::abort();
    far = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ::fcntl(near.get(), F_SETFL, O_NONBLOCK);
  }
  UniqueFd near{};
  UniqueFd far{};
};

// Fills the other end's buffer too: a sink whose room returns by itself is not full.
void fill_up(int fd) {
  const std::string block(4096, 'x');
  pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
  while (::poll(&writable, 1, 200) > 0) {
    while (::send(fd, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
  }
}

// A relay that only waits for a peer must cost nothing: it must not want a timer.
class RelayState : public NetTest {};

TEST_F(RelayState, DistinguishesAFullSinkFromOneThatWasRefusedMemory) {
  for (const bool pipes : {true, false}) {
    no_pipes = !pipes;
    PipePool pool;
    std::array<std::uint8_t, 4096> buffer{};
    Relay relay(pool, buffer);
    const SocketPair source;
    const SocketPair sink;
    std::uint64_t budget = Relay::kUnlimited;
    std::uint64_t most = Relay::kUnlimited;
    EXPECT_EQ(relay.pump(source.near.get(), sink.near.get(), budget, most), Relay::State::kWaiting) << "no bytes";
    ASSERT_TRUE(send_all(source.far.get(), "hello"));
    refused_writes = 1;
    EXPECT_EQ(relay.pump(source.near.get(), sink.near.get(), budget, most), Relay::State::kNoMemory);
    EXPECT_EQ(relay.pump(source.near.get(), sink.near.get(), budget, most), Relay::State::kWaiting);
    EXPECT_EQ(receive(sink.far.get(), 5).bytes, "hello");
    fill_up(sink.near.get());
    ASSERT_TRUE(send_all(source.far.get(), "more"));
    EXPECT_EQ(relay.pump(source.near.get(), sink.near.get(), budget, most), Relay::State::kWaiting) << "full sink";
  }
  no_pipes = false;
}

}  // namespace
}  // namespace sallyport::test
