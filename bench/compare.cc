// The clock of `make bench-compare`: runs the same jobs through each program, round by round, and prints every time as
// JSON. What to run comes from tools/bench_compare.py, which also makes the tables.
//
//   usage: sallyport_bench_compare PLAN.json > TIMES.json
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "bench/floor.h"
#include "bench/gate.h"
#include "bench/measure.h"

namespace sallyport::bench {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

// Between two runs, so that the work that a run leaves to the kernel and the helper (unmounts, new jails) does not slow the next.
constexpr auto kPause = 8ms;
constexpr auto kPauseAfterMany = 500ms;
constexpr int kWarmUpRounds = 2;

struct Entrant {
  std::string name;
  int every = 1;          // takes part in every n-th round
  int in_a_row = 1;       // runs per thread; the time of each is reported
  Words remove_before{};  // what the last run left behind and the next must not find
  std::function<Finished()> once{};
  json times = json::array();  // null for a round without it
  std::string failure{};
};

std::string strip(std::string text) {
  std::erase_if(text, [](char letter) { return letter != '\n' && (letter < ' ' || letter > '~'); });
  return text;
}

Finished run_in_gate(Gate& gate, const json& job, const Words& argv) {
  const std::string repo = job.at("repo");
  JailedSubprocessSpec spec{.argv = argv, .repo = repo, .cwd = repo, .limits = {.wall = 10min}};
  if (job.value("writable", false)) spec.repo_access = RepoAccess::kWritable;
  for (const std::string& text : job.value("hosts", Words{})) {
    Result<HostRule> rule = parse_host_rule(text);
    if (!rule) return {.why = rule.error().message};
    spec.allowed_hosts.push_back(*std::move(rule));
  }
  const Result<JailedSubprocessResult> result = gate.run(spec, JailKind::kNative, {});
  if (!result) return {.why = result.error().message};
  const auto* completed = std::get_if<Completed>(&result->outcome);
  const auto* code = completed == nullptr ? nullptr : std::get_if<ExitCode>(&completed->fate);
  return {.ok = code != nullptr && code->value == 0,
          .bytes = result->stdout_stream.total_bytes + result->stderr_stream.total_bytes,
          .why = result->stderr_stream.bytes};
}

// "{n}" in a command is a number never used before: containers want names of their own.
Words numbered(Words words) {
  static std::atomic<int> next = 0;
  const std::string number = std::to_string(++next);
  for (std::string& word : words) {
    if (const std::size_t at = word.find("{n}"); at != std::string::npos) word.replace(at, 3, number);
  }
  return words;
}

// `count` threads with `in_a_row` runs each, without a pause: the work that one run leaves behind slows a later run.
Finished in_parallel(int count, int in_a_row, const std::function<Finished()>& once) {
  std::vector<Finished> all(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (Finished& one : all) {
    threads.emplace_back([&] {
      for (int i = 0; i < in_a_row && (i == 0 || one.ok); ++i) one = once();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto bad = std::ranges::find_if(all, [](const Finished& one) { return !one.ok; });
  return bad == all.end() ? all[0] : *bad;
}

std::function<Finished()> way_to_run(const json& entry, const json& job, Gate* gate) {
  const std::string kind = entry.at("kind");
  const Words argv = entry.at("argv");
  const std::string repo = job.at("repo");
  if (kind == "library" || kind == "warm") return [=, &job] { return run_in_gate(*gate, job, argv); };
  if (kind == "floor") return [=] { return run_on_floor(entry.at("exe"), argv, repo); };
  return [=] { return run_command(numbered(argv), repo); };
}

void run_once(Entrant& entrant, std::uint64_t at_least, bool counts, Clock::duration pause) {
  for (const std::string& path : entrant.remove_before) std::filesystem::remove_all(path);
  const auto start = Clock::now();
  const Finished finished = entrant.once();
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  if (!finished.ok) {
    entrant.failure = finished.why.empty() ? "failed" : strip(finished.why);
  } else if (finished.bytes < at_least) {
    entrant.failure = fmt::format("gave {} bytes of output, not {}", finished.bytes, at_least);
  }
  if (counts) entrant.times.push_back(took.count() / entrant.in_a_row);
  std::this_thread::sleep_for(pause);
}

// Everybody once per round, in an order drawn anew each time.
void run_rounds(std::vector<Entrant>& entrants, const json& job) {
  const int rounds = job.at("rounds");
  const std::uint64_t at_least = job.value("bytes", std::uint64_t{0});
  std::mt19937 dice(1);  // the same orders in every benchmark run
  std::vector<Entrant*> order;
  for (Entrant& entrant : entrants) order.push_back(&entrant);
  const bool slow_warm_up = job.value("slow_warm_up", true);
  const Clock::duration pause = job.value("parallel", 1) == 1 ? kPause : kPauseAfterMany;
  for (int round = -kWarmUpRounds; round < rounds; ++round) {
    std::ranges::shuffle(order, dice);
    for (Entrant* entrant : order) {
      if (!entrant->failure.empty()) continue;
      if (round < 0 ? entrant->every == 1 || (round == -1 && slow_warm_up) : round % entrant->every == 0) {
        run_once(*entrant, at_least, round >= 0, pause);
      } else if (round >= 0) {
        entrant->times.push_back(nullptr);
      }
    }
  }
}

json run_job(const json& job, const std::string& policy) {
  const std::string repo = job.at("repo");
  const std::unique_ptr<Gate> cold = open_gate({.repo = repo, .policy = policy});
  const std::unique_ptr<Gate> warm = open_gate({.repo = repo, .policy = policy, .warm_jails = job.at("warm")});
  std::vector<Entrant> entrants;
  const int parallel = job.value("parallel", 1);
  for (const json& entry : job.at("entrants")) {
    Gate* gate = entry.at("kind") == "warm" ? warm.get() : cold.get();
    Entrant entrant{.name = entry.at("name"), .every = entry.value("every", 1)};
    entrant.remove_before = entry.value("remove_before", Words{});
    const std::function<Finished()> once = way_to_run(entry, job, gate);
    entrant.once = once;
    entrant.in_a_row = entry.value("in_a_row", 1);
    if (parallel > 1) {
      entrant.once = [=, in_a_row = entrant.in_a_row] { return in_parallel(parallel, in_a_row, once); };
    }
    entrants.push_back(std::move(entrant));
  }
  run_rounds(entrants, job);
  json result = {{"name", job.at("name")}, {"entrants", json::array()}};
  for (const Entrant& entrant : entrants) {
    result["entrants"].push_back({{"name", entrant.name}, {"times", entrant.times}, {"failure", entrant.failure}});
  }
  return result;
}

}  // namespace
}  // namespace sallyport::bench

int main(int argc, char** argv) {
  using sallyport::bench::json;
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  const json plan = json::parse(file);
  json result = json::array();
  for (const json& job : plan.at("jobs")) {
    fmt::print(stderr, "bench-compare: {}\n", job.at("name").get<std::string>());
    result.push_back(sallyport::bench::run_job(job, plan.at("policy")));
  }
  std::cout << result.dump() << '\n';
  return 0;
}
