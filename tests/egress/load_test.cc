// Egress under load: many connections, many jails, much data, peers that do not play along. Nothing hangs, nothing is
// left, memory stays bounded.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "egress/egress_fixture.h"
#include "egress/server.h"
#include "sallyport/gate.h"
#include "support/installed.h"
#include "support/processes.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kMany = 500;

std::string path_of(const std::string& head) {
  const std::size_t from = head.find(' ') + 1;
  return head.substr(from, head.find(' ', from) - from);
}

void answer(Talk& talk, const std::string& body) {
  talk.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
             body);
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string text;
    for (const unsigned char byte : std::span(digest).first(size)) {
      text += "0123456789abcdef"[byte >> 4U];
      text += "0123456789abcdef"[byte & 15U];
    }
    return text;
  }

 private:
  std::shared_ptr<EVP_MD_CTX> context_;
};

// A gate in this very process, so that what it leaves behind can be counted.
class EgressLoad : public testing::TestWithParam<JailKind> {
 protected:
  EgressLoad() : site_(geteuid() == 0 ? Who::kRoot : Who::kUser) {
    site_.put("load_client.py", read_file(SALLYPORT_TEST_LOAD_CLIENT));
    GateConfig config{.repo = site_.repo(),
                      .allowlist = Allowlist::from_policy(policy_admitting({"python3", "curl"}), "test policy").value(),
                      .search_path = {"/usr/bin", "/bin"},
                      .base_env = {{"PATH", "/usr/bin:/bin"}}};
    gate_ = Gate::open(std::move(config)).value();
  }

  [[nodiscard]] static Words client(std::string what, const Server& server) {
    return {"python3", "load_client.py", std::move(what), "web.test", std::to_string(server.port())};
  }
  [[nodiscard]] JailedSubprocessResult run(Words argv, const std::string& rule,
                                           std::chrono::milliseconds wall = 240s) const {
    Result<JailedSubprocessResult> result = gate_->run({.argv = std::move(argv),
                                                        .repo = site_.repo(),
                                                        .cwd = site_.repo(),
                                                        .allowed_hosts = {parse_host_rule(rule).value()},
                                                        .limits = {.wall = wall}},
                                                       GetParam(), {});
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : JailedSubprocessResult{};
  }
  [[nodiscard]] static std::string rule_for(const Server& server) {
    return "web.test:" + std::to_string(server.port()) + "=" + server.target();
  }

  Site site_;
  std::unique_ptr<Gate> gate_;
};

TEST_P(EgressLoad, FiveHundredConnectionsAtOnceAllGetTheirAnswer_C24) {
  std::mutex mutex;
  std::condition_variable everybody_is_here;
  int here = 0;
  Server server([&](Talk& talk) {
    const std::string path = path_of(read_head(talk));
    std::unique_lock lock(mutex);
    if (++here == kMany) everybody_is_here.notify_all();
    everybody_is_here.wait_for(lock, 60s, [&] { return here >= kMany; });
    lock.unlock();
    answer(talk, path);
  });
  const JailedSubprocessResult result = run(client("many", server), rule_for(server));
  EXPECT_EQ(result.stdout_stream.bytes, "right answers: 500\n") << result.stderr_stream.bytes;
  EXPECT_TRUE(result.denials.empty());
}

TEST_P(EgressLoad, TwentyJailsAtOnceKnowNothingOfEachOtherAndLeaveNothing_C24) {
  const auto serve = [](Talk& talk) { answer(talk, path_of(read_head(talk))); };
  Server server(serve);
  const auto fetch = [&](int number) {
    const std::string host = "host" + std::to_string(number) + ".test:" + std::to_string(server.port());
    const JailedSubprocessResult result =
        run({"curl", "--silent", "--show-error", "http://" + host + "/" + std::to_string(number)},
            host + "=" + server.target());
    EXPECT_EQ(result.stdout_stream.bytes, "/" + std::to_string(number)) << result.stderr_stream.bytes;
  };
  // The server's thread for a connection may still be on its way out.
  const auto settled = [] {
    LeakCount count = LeakCount::of_self();
    for (LeakCount last{}; !(count == last);) {
      last = count;
      std::this_thread::sleep_for(50ms);
      count = LeakCount::of_self();
    }
    return count;
  };
  fetch(0);  // what a gate keeps for good is there from now on
  const LeakCount before = settled();
  const int served = server.heard();
  {
    std::vector<std::jthread> jails;
    for (int i = 1; i <= 20; ++i) jails.emplace_back(fetch, i);
  }
  EXPECT_EQ(server.heard(), served + 20);
  LeakCount after = settled();
  // The server keeps a socket and an ended thread for each connection it had.
  after.open_fds -= 20;
  EXPECT_EQ(before, after);
}

TEST_P(EgressLoad, AServerThatNeverAnswersIsEndedByTheDeadline_C9) {
  Server server([](Talk& talk) {
    char byte = 0;
    while (talk.read(&byte, 1) > 0) {
    }
  });
  const JailedSubprocessResult result =
      run({"curl", "--silent", "http://web.test:" + std::to_string(server.port()) + "/"}, rule_for(server), 1s);
  EXPECT_EQ(outcome_name(result.outcome), "timed_out");
  EXPECT_EQ(server.heard(), 1);
}

// Its queue is full, so the kernel drops what else comes.
TEST_P(EgressLoad, AServerThatCannotBeConnectedIsEndedByTheDeadline_C9) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_TRUE(::bind(listener, generic, size) == 0 && ::listen(listener, 0) == 0 &&
              ::getsockname(listener, generic, &size) == 0);
  std::array<int, 4> queued{};
  for (int& fd : queued) {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    static_cast<void>(::connect(fd, generic, size));
  }
  const std::string port = std::to_string(ntohs(address.sin_port));
  static_cast<void>(run({"curl", "--version"}, "web.test"));
  const LeakCount before = LeakCount::of_self();
  // The result is dropped at once: it holds the run's scratch open.
  const std::string rule = "web.test:" + port + "=127.0.0.1:" + port;
  const Outcome outcome = run({"curl", "--silent", "http://web.test:" + port + "/"}, rule, 1s).outcome;
  EXPECT_EQ(outcome_name(outcome), "timed_out");
  EXPECT_EQ(before, LeakCount::of_self());
  for (const int fd : queued) ::close(fd);
  ::close(listener);
}

INSTANTIATE_TEST_SUITE_P(, EgressLoad, testing::Values(JailKind::kNative, JailKind::kBwrap),
                         [](const auto& test) { return std::string(test.param.name()); });

class EgressBulk : public EgressLoad {};

constexpr std::size_t kBlock = 1U << 20U;
// Of one connection whose client does not read.
constexpr std::uint64_t kMostStuckBytes = std::uint64_t{1} << 20U;
constexpr std::size_t kBlocks = 2048;

TEST_P(EgressBulk, TwoGibibytesDownArriveByteForByte_C24) {
  std::string sent;
  std::optional<Server> server(std::in_place, [&](Talk& talk) {
    static_cast<void>(read_head(talk));
    talk.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBlock * kBlocks) + "\r\n\r\n");
    Sha256 digest;
    std::string block(kBlock, '\0');
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i * 31U >> 3U);
    for (std::size_t i = 0; i < kBlocks; ++i) {
      block.replace(0, 8, std::to_string(10'000'000 + i));
      digest.add(block);
      if (!talk.write(block)) return;
    }
    sent = digest.hex();
  });
  const JailedSubprocessResult result = run(client("download", *server), rule_for(*server));
  server.reset();  // waits for its thread
  EXPECT_EQ(sent.size(), 64u);
  EXPECT_EQ(result.stdout_stream.bytes, sent + "\n") << result.stderr_stream.bytes;
}

TEST_P(EgressBulk, TwoGibibytesUpArriveByteForByte_C24) {
  Server server([&](Talk& talk) {
    static_cast<void>(read_head(talk));
    Sha256 digest;
    std::string buffer(kBlock, '\0');
    for (std::size_t left = kBlock * kBlocks; left > 0;) {
      const long got = talk.read(buffer.data(), std::min(left, buffer.size()));
      if (got <= 0) return;
      digest.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
      left -= static_cast<std::size_t>(got);
    }
    answer(talk, digest.hex());
  });
  const JailedSubprocessResult result = run(client("upload", server), rule_for(server));
  const std::string& said = result.stdout_stream.bytes;
  ASSERT_EQ(said.size(), 2u * 64 + 2) << said << result.stderr_stream.bytes;
  EXPECT_EQ(said.substr(0, 64), said.substr(65, 64));
}

std::uint64_t peak_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
  }
  return 0;
}

// Of all TCP sockets of this machine, in whatever namespace.
std::uint64_t tcp_buffers_mib() {
  std::ifstream sockstat("/proc/net/sockstat");
  for (std::string line; std::getline(sockstat, line);) {
    const std::size_t at = line.find(" mem ");
    if (line.starts_with("TCP:") && at != std::string::npos) {
      return std::stoull(line.substr(at + 5)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) >> 20U;
    }
  }
  return 0;
}

// 500 clients that never read, and a caller who is stopped in the middle of it.
TEST_P(EgressBulk, ClientsThatNeverReadCostBoundedMemoryAndEndWithTheCaller_C10) {
  std::atomic<std::uint64_t> sent = 0;
  std::atomic<int> ended = 0;
  Server server([&](Talk& talk) {
    static_cast<void>(read_head(talk));
    talk.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
    const std::string block(64U << 10U, 'x');
    while (talk.write(block)) sent += block.size();
    ++ended;
  });
  server.keep_little_unsent();
  const std::uint64_t before = tcp_buffers_mib();
  const std::string marker = unique_marker();
  Words argv = client("never_read", server);
  argv.push_back(marker);
  Program program = site_.start(GetParam(), {"--allow-host", rule_for(server), "--timeout", "240s"}, argv, false);
  ASSERT_TRUE(program.wait_for_stdout("stuck"));
  const std::uint64_t peak = peak_kib(program.pid());
  RecordProperty("peak_kib", std::to_string(peak));
  std::cout << "peak of the caller with " << kMany << " stuck connections: " << peak
            << " KiB, sent into buffers: " << (sent >> 20U) << " MiB, all TCP buffers of the machine: " << before
            << " MiB before, " << tcp_buffers_mib() << " MiB now\n";
  EXPECT_GT(peak, 0u);
  // What nobody reads stays in the kernel: in the jail's sockets, in ours, in our pipes. Counted by what the server could
  // send, since others use this machine's network too.
  EXPECT_GT(sent, 0u);
  EXPECT_LT(sent, kMany * kMostStuckBytes);
  [[maybe_unused]] constexpr std::uint64_t kMostKib = std::uint64_t{128} * 1024;
#ifndef SALLYPORT_SANITIZED
  EXPECT_LT(peak, kMostKib);
#endif
  program.send_signal(SIGTERM);
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exit_code, 128 + SIGTERM) << result.stderr_bytes;
  EXPECT_TRUE(all_gone(marker));
  for (int i = 0; i < 1000 && ended < kMany; ++i) ::usleep(10'000);
  EXPECT_EQ(ended, kMany) << "connections outlive their run";
}

INSTANTIATE_TEST_SUITE_P(, EgressBulk, testing::Values(JailKind::kNative),
                         [](const auto& test) { return std::string(test.param.name()); });

}  // namespace
}  // namespace sallyport::test
