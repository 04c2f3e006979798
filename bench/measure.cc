#include "bench/measure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

extern char** environ;

namespace sallyport::bench {
namespace {

constexpr std::size_t kKeptOfStderr = 400;

double percentile(std::vector<double> times, double share) {
  std::ranges::sort(times);
  return times[static_cast<std::size_t>(static_cast<double>(times.size() - 1) * share)];
}

double median(std::vector<double> times) { return percentile(std::move(times), 0.5); }

// How far the ratio of two medians can be trusted: a bootstrap over rounds, 95 %.
std::pair<double, double> interval(const std::vector<double>& times, const std::vector<double>& base,
                                   std::mt19937& dice) {
  constexpr int kDraws = 1000;
  std::uniform_int_distribution<std::size_t> any_round(0, times.size() - 1);
  std::vector<double> ratios;
  std::vector<double> drawn(times.size());
  std::vector<double> drawn_base(times.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::size_t round = any_round(dice);
      drawn[i] = times[round];
      drawn_base[i] = base[round];
    }
    ratios.push_back(median(drawn) / median(drawn_base));
  }
  return {percentile(ratios, 0.025), percentile(ratios, 0.975)};
}

void add_to_times_file(const std::string& title, const std::string& name, const std::vector<double>& times) {
  const char* path = std::getenv("SALLYPORT_BENCH_TIMES");
  if (path == nullptr) return;
  FILE* file = std::fopen(path, "a");
  if (file == nullptr) std::abort();
  fmt::print(file, "{{\"bench\": \"{}\", \"contestant\": \"{}\", \"times\": [{:.4f}]}}\n", title, name,
             fmt::join(times, ", "));
  std::fclose(file);
}

}  // namespace

Finished read_both(int out, int err) {
  Finished finished;
  std::array<pollfd, 2> watched = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  std::vector<char> buffer(std::size_t{64} << 10U);
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    ::poll(watched.data(), watched.size(), -1);
    for (pollfd& one : watched) {
      if (one.fd < 0 || one.revents == 0) continue;
      const ssize_t size = ::read(one.fd, buffer.data(), buffer.size());
      if (size <= 0) {
        one.fd = -1;
        continue;
      }
      finished.bytes += static_cast<std::uint64_t>(size);
      if (one.fd != err) continue;
      finished.why.append(buffer.data(), static_cast<std::size_t>(size));
      if (finished.why.size() > kKeptOfStderr) finished.why.erase(0, finished.why.size() - kKeptOfStderr);
    }
  }
  return finished;
}

Finished run_command(const std::vector<std::string>& argv, const std::string& cwd) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  if (!cwd.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  Finished finished = read_both(out[0], err[0]);
  ::close(out[0]);
  ::close(err[0]);
  if (failed != 0) return {.why = fmt::format("cannot be started: error {}", failed)};
  int status = 0;
  finished.ok = ::waitpid(pid, &status, 0) == pid && status == 0;
  if (!finished.ok) finished.why = fmt::format("wait status {:#x}: {}", static_cast<unsigned>(status), finished.why);
  return finished;
}

std::uint64_t spawn_and_read(const std::vector<std::string>& argv) {
  const Finished finished = run_command(argv);
  if (finished.ok) return finished.bytes;
  fmt::print(stderr, "bench: {} failed: {}\n", argv[0], finished.why);
  std::exit(1);
}

void compare(const std::string& title, const std::vector<Contestant>& contestants, int rounds) {
  std::mt19937 dice;
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<double>> times(contestants.size());
  for (int round = 0; round < rounds + 2; ++round) {
    std::ranges::shuffle(order, dice);
    for (const std::size_t i : order) {
      // Wait, so that the work that the last run left to the kernel and the helper (unmounts, new jails) does not count here.
      std::this_thread::sleep_for(std::chrono::milliseconds(8));
      const auto start = std::chrono::steady_clock::now();
      contestants[i].once();
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      if (round >= 2) times[i].push_back(took.count());  // the first two rounds warm caches and start the helper
    }
  }
  for (std::size_t i = 0; i < contestants.size(); ++i) add_to_times_file(title, contestants[i].name, times[i]);
  const double base = median(times[0]);
  fmt::print("\n{:<44} {:>9} {:>9} {:>7} {:>13}\n", title, "p50 ms", "p95 ms", "ratio", "[95 %]");
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    const auto [low, high] = interval(times[i], times[0], dice);
    fmt::print("{:<44} {:>9.3f} {:>9.3f} {:>7.2f} [{:>5.2f}-{:>5.2f}]\n", contestants[i].name, median(times[i]),
               percentile(times[i], 0.95), median(times[i]) / base, low, high);
  }
  std::fflush(stdout);
}

}  // namespace sallyport::bench
