// What slows a start: the caller's memory and threads, jails that already run, mounts, allowed hosts. Prints every
// time as JSON, for tools/bench_scaling.py.
//
//   usage: sallyport_bench_scaling [--rounds N]
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/gate.h"
#include "bench/measure.h"

namespace sallyport::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

std::unique_ptr<Gate> gate_for(const fs::path& repo, std::size_t warm) {
  return open_gate({.repo = repo, .policy = policy_for({"true", "sleep"}), .warm_jails = warm});
}

void run_jailed(Gate& gate, const JailedSubprocessSpec& spec, const std::stop_token& stop) {
  const Result<JailedSubprocessResult> result = gate.run(spec, JailKind::kNative, stop);
  if (result) return;
  fmt::print(stderr, "bench-scaling: {}\n", result.error().message);
  std::exit(1);
}

class Scaling {
 public:
  Scaling(fs::path repo, int rounds)
      : repo_(std::move(repo)), rounds_(rounds), cold_(gate_for(repo_, 0)), warm_(gate_for(repo_, 4)) {}

  [[nodiscard]] const fs::path& repo() const { return repo_; }
  [[nodiscard]] Gate& gate() { return *cold_; }
  [[nodiscard]] JailedSubprocessSpec spec() const {
    return {.argv = {"true"}, .repo = repo_, .cwd = repo_, .limits = {.wall = 60s}};
  }

  // Adds to what an earlier call measured at the same point.
  void measure(const char* dimension, std::size_t point, const JailedSubprocessSpec& spec) {
    json& entry = entry_at(dimension, point);
    for (int round = -2; round < rounds_; ++round) {
      const auto time = [&](const char* who, const std::function<void()>& once) {
        const auto start = Clock::now();
        once();
        const std::chrono::duration<double, std::milli> took = Clock::now() - start;
        if (round >= 0) entry[who].push_back(took.count());
        std::this_thread::sleep_for(2ms);
      };
      time("bare", [] { spawn_and_read({"true"}); });
      time("cold", [&] { run_jailed(*cold_, spec, {}); });
      time("warm", [&] { run_jailed(*warm_, spec, {}); });
    }
  }

  [[nodiscard]] const json& result() const { return result_; }

 private:
  json& entry_at(const char* dimension, std::size_t point) {
    json& entries = result_[dimension];
    for (json& entry : entries) {
      if (entry.at("at") == point) return entry;
    }
    entries.push_back({{"at", point}});
    return entries.back();
  }

  fs::path repo_;
  int rounds_;
  std::unique_ptr<Gate> cold_;
  std::unique_ptr<Gate> warm_;
  json result_;
};

// Up and down again, so that a machine that gets busier or quieter meanwhile does so for all points alike.
std::vector<std::size_t> there_and_back(std::vector<std::size_t> points) {
  points.insert(points.end(), points.rbegin(), points.rend());
  return points;
}

std::size_t available_gib() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) >> 20U;
  }
  return 0;
}

void by_resident_memory(Scaling& scaling) {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (const std::size_t gib : there_and_back({0, 1, 2, 4, 8})) {
    if (blocks.size() > gib) blocks.resize(gib);
    // Memory the kernel cannot share away: every page is written.
    while (blocks.size() < gib && available_gib() > 2) {
      blocks.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{1} << 30U));
      std::memset(blocks.back().get(), 1, std::size_t{1} << 30U);
    }
    if (blocks.size() == gib) scaling.measure("resident_gib", gib, scaling.spec());
  }
}

void by_threads(Scaling& scaling) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::vector<std::jthread> threads;
  for (const std::size_t count : there_and_back({1, 10, 50, 100, 200})) {
    if (threads.size() >= count) threads.resize(count - 1);
    while (threads.size() + 1 < count) {
      threads.emplace_back([&](const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        wake.wait(lock, stop, [] { return false; });
      });
    }
    scaling.measure("threads", count, scaling.spec());
  }
}

void by_running_jails(Scaling& scaling) {
  std::vector<std::jthread> jails;
  JailedSubprocessSpec sleeper = scaling.spec();
  sleeper.argv = {"sleep", "1000"};
  sleeper.limits.wall = 1h;
  for (const std::size_t count : there_and_back({1, 4, 16, 64, 256})) {
    if (jails.size() >= count) jails.resize(count - 1);
    while (jails.size() + 1 < count) {
      jails.emplace_back([&](const std::stop_token& stop) { run_jailed(scaling.gate(), sleeper, stop); });
    }
    std::this_thread::sleep_for(10ms * count);  // they must be up, not coming up
    scaling.measure("running_jails", count, scaling.spec());
  }
}

void by_mounts(Scaling& scaling) {
  for (const std::size_t count : there_and_back({1, 10, 50, 100, 200})) {
    JailedSubprocessSpec spec = scaling.spec();
    while (spec.extra_read_only.size() + spec.extra_read_write.size() < count) {
      const fs::path path = scaling.repo().parent_path() / fmt::format("mount{}", spec.extra_read_only.size());
      fs::create_directories(path / "rw");
      spec.extra_read_only.push_back(path);
      if (spec.extra_read_only.size() % 10 == 0) spec.extra_read_write.push_back(path / "rw");
    }
    scaling.measure("mounts", count, spec);
  }
}

void by_allowed_hosts(Scaling& scaling) {
  for (const std::size_t count : there_and_back({1, 10, 100, 1000, 10'000})) {
    JailedSubprocessSpec spec = scaling.spec();
    while (spec.allowed_hosts.size() < count) {
      Result<HostRule> rule = parse_host_rule(fmt::format("host{}.example.test", spec.allowed_hosts.size()));
      if (!rule) std::exit(1);
      spec.allowed_hosts.push_back(*std::move(rule));
    }
    scaling.measure("allowed_hosts", count, spec);
  }
}

}  // namespace
}  // namespace sallyport::bench

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  using namespace sallyport::bench;
  int rounds = 40;  // at each point, twice
  if (argc == 3 && std::strcmp(argv[1], "--rounds") == 0) rounds = static_cast<int>(std::strtol(argv[2], nullptr, 10));
  const TempDir dir;
  const fs::path repo = dir.path() / "repo";
  fs::create_directory(repo);
  Scaling scaling(repo, rounds);
  by_threads(scaling);
  by_running_jails(scaling);
  by_mounts(scaling);
  by_allowed_hosts(scaling);
  by_resident_memory(scaling);
  std::cout << scaling.result().dump() << '\n';
  return 0;
}
