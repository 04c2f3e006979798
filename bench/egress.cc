// What egress costs: bulk transfers and connects through a jail against the same client without one, and a run that
// allows a host against one that does not. Everything over loopback, in turns.
//
//   usage: sallyport_bench_egress [--rounds N]
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "bench/egress_protocol.h"
#include "bench/gate.h"
#include "bench/measure.h"

namespace sallyport::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::uint64_t kBulk = std::uint64_t{1} << 30U;
constexpr int kAsks = 500;

enum class Shown { kRate, kLatency };

void serve(int fd) {
  char letter = 0;
  std::uint64_t count = 0;
  if (::recv(fd, &letter, 1, MSG_WAITALL) == 1) {
    if (letter == kAsk) {
      ::send(fd, &letter, 1, MSG_NOSIGNAL);
    } else if (::recv(fd, &count, sizeof count, MSG_WAITALL) == sizeof count) {
      if (letter == kDown) send_bytes(fd, count);
      if (letter == kUp && receive_bytes(fd, count) == count) ::send(fd, &letter, 1, MSG_NOSIGNAL);
    }
  }
  ::close(fd);
}

// For as long as the process lives. Returns its port.
int start_server() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  do_not_pace(listener);  // what is accepted inherits it
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, size) != 0 || ::listen(listener, SOMAXCONN) != 0 ||
      ::getsockname(listener, generic, &size) != 0) {
    std::abort();
  }
  std::thread([listener] {
    while (true) {
      const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      serve(fd);
    }
  }).detach();
  return ntohs(address.sin_port);
}

class Bench {
 public:
  Bench(const fs::path& dir, int port) : repo_(dir / "repo"), port_(std::to_string(port)) {
    fs::create_directories(repo_);
    fs::create_directories(dir / "tools");
    fs::copy_file(SALLYPORT_BENCH_CLIENT, dir / "tools" / "bench-client");
    gate_ = open_gate({.repo = repo_, .policy = policy_for({"bench-client", "true"}), .more_tools = dir / "tools"});
    rules_ = {parse_host_rule("bulk.test:" + port_ + "=127.0.0.1:" + port_).value()};
  }

  std::string run(const Words& argv, JailKind jail, std::vector<HostRule> hosts) {
    const Result<JailedSubprocessResult> result = gate_->run(
        {.argv = argv, .repo = repo_, .cwd = repo_, .allowed_hosts = std::move(hosts), .limits = {.wall = 120s}}, jail,
        {});
    if (!result) give_up(result.error().message);
    const auto* completed = std::get_if<Completed>(&result->outcome);
    if (completed == nullptr) give_up("did not complete");
    return result->stdout_stream.bytes;
  }

  void compare_transfers(const char* title, const char* what, std::uint64_t count, int rounds, Shown shown) {
    std::vector<double> direct;
    std::vector<double> jailed;
    for (int i = 0; i < rounds; ++i) {
      const std::string number = std::to_string(count);
      direct.push_back(number_in(run({"bench-client", what, "127.0.0.1", port_, number}, JailKind::kNone, {})));
      jailed.push_back(number_in(run({"bench-client", what, "bulk.test", port_, number}, JailKind::kNative, rules_)));
    }
    const double bare = median(direct);
    const double through = median(jailed);
    if (shown == Shown::kRate) {
      const auto rate = [&](double ms) { return static_cast<double>(count) / 1e6 / ms; };  // bytes/ms -> GB/s
      fmt::print("{:<36} direct {:>6.2f} GB/s, jailed {:>6.2f} GB/s, rate x {:.2f}\n", title, rate(bare), rate(through),
                 bare / through);
    } else {
      fmt::print("{:<36} direct {:>6.3f} ms, jailed {:>6.3f} ms, added {:.3f} ms\n", title, bare, through,
                 through - bare);
    }
  }

  void compare_starts(int rounds) {
    const auto start = [&](std::vector<HostRule> hosts) { run({"true"}, JailKind::kNative, std::move(hosts)); };
    compare("true, jailed", {{"no host allowed", [&] { start({}); }}, {"one host allowed", [&] { start(rules_); }}},
            rounds);
  }

 private:
  [[noreturn]] static void give_up(const std::string& why) {
    fmt::print(stderr, "bench: {}\n", why);
    std::exit(1);
  }
  static double number_in(const std::string& text) {
    const double number = std::strtod(text.c_str(), nullptr);
    if (number <= 0) give_up("the client said " + text);
    return number;
  }
  static double median(std::vector<double> times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

  fs::path repo_;
  std::string port_;
  std::unique_ptr<Gate> gate_;
  std::vector<HostRule> rules_{};
};

}  // namespace
}  // namespace sallyport::bench

int main(int argc, char** argv) {
  namespace bench = sallyport::bench;
  int rounds = 7;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
  }
  const bench::TempDir dir;
  bench::Bench egress(dir.path(), bench::start_server());
  egress.compare_transfers("1 GiB down", "down", bench::kBulk, rounds, bench::Shown::kRate);
  egress.compare_transfers("1 GiB up", "up", bench::kBulk, rounds, bench::Shown::kRate);
  egress.compare_transfers("connect, a byte there and back, p50", "ask", bench::kAsks, rounds, bench::Shown::kLatency);
  egress.compare_starts(rounds * 20);
  return 0;
}
