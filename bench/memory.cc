// What an idle owner pays in memory for being ready: the gate, its spawn helper with its workers, and the jails built ahead.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "bench/gate.h"

namespace sallyport::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct Memory {
  int processes = 0;
  std::uint64_t resident_kib = 0;      // as counted for each process: shared pages once for each
  std::uint64_t proportional_kib = 0;  // shared pages divided among those who share them
};

// Field 4 of /proc/PID/stat, after the name in brackets, which may hold anything.
int parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text);
  const std::size_t at = text.rfind(')');
  return at == std::string::npos ? 0 : static_cast<int>(std::strtol(text.c_str() + at + 4, nullptr, 10));
}

void add(Memory& memory, int pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
  for (std::string line; std::getline(file, line);) {
    const std::uint64_t kib = std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    if (line.starts_with("Rss:")) memory.resident_kib += kib;
    if (line.starts_with("Pss:")) memory.proportional_kib += kib;
  }
  ++memory.processes;
}

// Of this process and everything below it.
Memory of_the_tree() {
  std::multimap<int, int> children;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const int pid = static_cast<int>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (pid > 0) children.emplace(parent_of(entry.path()), pid);
  }
  Memory memory;
  std::vector<int> open = {static_cast<int>(::getpid())};
  while (!open.empty()) {
    const int pid = open.back();
    open.pop_back();
    add(memory, pid);
    for (auto [one, end] = children.equal_range(pid); one != end; ++one) open.push_back(one->second);
  }
  return memory;
}

void print_extra(const char* what, const Memory& before, const Memory& now) {
  const auto mib = [](std::uint64_t later, std::uint64_t earlier) {
    return (static_cast<double>(later) - static_cast<double>(earlier)) / 1024.0;
  };
  fmt::print("{:<44} {:>9} {:>9.2f} {:>9.2f}\n", what, now.processes, mib(now.resident_kib, before.resident_kib),
             mib(now.proportional_kib, before.proportional_kib));
}

void measure(const fs::path& repo, std::size_t warm, const char* what) {
  const Memory before = of_the_tree();
  const std::unique_ptr<Gate> gate = open_gate({.repo = repo, .policy = policy_for({"true"}), .warm_jails = warm});
  for (int i = 0; i < 3; ++i) {  // a pool learns from the runs what the next will want
    const Result<JailedSubprocessResult> result =
        gate->run({.argv = {"true"}, .repo = repo, .cwd = repo, .limits = {.wall = 60s}}, JailKind::kNative, {});
    if (!result) std::exit(1);
  }
  std::this_thread::sleep_for(500ms);  // until it is idle again, with its pool filled
  print_extra(what, before, of_the_tree());
}

}  // namespace
}  // namespace sallyport::bench

int main() {
  namespace bench = sallyport::bench;
  const bench::TempDir dir;
  fmt::print("\n{:<44} {:>9} {:>9} {:>9}\n", "idle owner after some runs, extra memory", "processes", "RSS MiB",
             "PSS MiB");
  bench::measure(dir.path(), 0, "gate and spawn helper");
  bench::measure(dir.path(), 4, "gate, spawn helper and a pool of 4");
  return 0;
}
