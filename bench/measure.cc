#include "bench/measure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

extern char** environ;

namespace sallyport::bench {
namespace {

std::uint64_t read_both(int out, int err) {
  std::uint64_t total = 0;
  std::array<pollfd, 2> watched = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
  std::vector<char> buffer(std::size_t{64} << 10U);
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    ::poll(watched.data(), watched.size(), -1);
    for (pollfd& one : watched) {
      if (one.fd < 0 || one.revents == 0) continue;
      const ssize_t size = ::read(one.fd, buffer.data(), buffer.size());
      if (size > 0) {
        total += static_cast<std::uint64_t>(size);
      } else {
        one.fd = -1;
      }
    }
  }
  return total;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * share)];
}

}  // namespace

std::uint64_t spawn_and_read(const std::vector<std::string>& argv) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  if (::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ) != 0) std::abort();
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  const std::uint64_t total = read_both(out[0], err[0]);
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) {
    fmt::print(stderr, "bench: {} failed: wait status {:#x}\n", argv[0], static_cast<unsigned>(status));
    std::exit(1);
  }
  return total;
}

void compare(std::vector<Contestant> contestants, int rounds) {
  std::vector<std::vector<double>> times(contestants.size());
  for (int round = 0; round < rounds + 2; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      contestants[i].once();
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      if (round >= 2) times[i].push_back(took.count());  // the first two rounds warm caches and start the helper
    }
  }
  for (std::vector<double>& one : times) std::ranges::sort(one);
  const double base = percentile(times[0], 0.5);
  fmt::print("{:<44} {:>9} {:>9} {:>7}\n", "", "p50 ms", "p95 ms", "ratio");
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    const double median = percentile(times[i], 0.5);
    fmt::print("{:<44} {:>9.3f} {:>9.3f} {:>7.2f}\n", contestants[i].name, median, percentile(times[i], 0.95),
               median / base);
  }
}

}  // namespace sallyport::bench
