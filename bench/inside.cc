// What a jail costs a tool that works for a while: the same job bare, on the hand-written floor with none, one or both of
// the jail's locks, and jailed, start included.
//
//   usage: sallyport_bench_inside [--rounds N] [--files N] [--only rg|git|find|dd]
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bench/floor.h"
#include "bench/gate.h"
#include "bench/measure.h"

namespace sallyport::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Files of about 2 KiB, fifty to a directory.
void make_tree(const fs::path& root, int files) {
  std::string text;
  for (int line = 0; line < 40; ++line) text += fmt::format("line {} of a file nobody reads for pleasure\n", line);
  for (int i = 0; i < files; ++i) {
    const fs::path directory = root / fmt::format("d{:04}", i / 50);
    fs::create_directories(directory);
    std::ofstream(directory / fmt::format("f{:06}.txt", i)) << text << i << '\n';
  }
}

void run_jailed(Gate& gate, const std::string& repo, const Words& argv) {
  const Result<JailedSubprocessResult> result =
      gate.run({.argv = argv, .repo = repo, .cwd = repo, .limits = {.wall = 60s}}, JailKind::kNative, {});
  if (result && std::holds_alternative<Completed>(result->outcome)) return;
  fmt::print(stderr, "bench: {}\n", result ? "did not complete" : result.error().message);
  std::exit(1);
}

// The kernel's part of the cost: any seccomp filter slows every system call, any Landlock ruleset every open.
void run_on_floor_or_exit(const std::string& repo, Words argv, Locks locks) {
  // The floor's user is another, and git would read every file again; the gate's hardening of git has this in it.
  if (argv[0] == "git") argv.insert(argv.begin() + 1, {"-c", "core.checkStat=minimal", "-c", "safe.directory=*"});
  const Finished finished = run_on_floor("/usr/bin/" + argv[0], argv, repo, locks);
  if (finished.ok) return;
  fmt::print(stderr, "bench: floor: {}\n", finished.why);
  std::exit(1);
}

struct Options {
  int rounds = 30;
  int files = 100'000;
  std::string only{};
};

void compare_job(Gate& gate, const std::string& repo, const std::string& title, const Words& argv,
                 const Options& options) {
  if (!options.only.empty() && options.only != argv[0]) return;
  compare(title,
          {{"bare", [&] { spawn_and_read(argv); }},
           {"floor without locks", [&] { run_on_floor_or_exit(repo, argv, Locks::kNone); }},
           {"floor", [&] { run_on_floor_or_exit(repo, argv, Locks::kSeccomp); }},
           {"floor and Landlock", [&] { run_on_floor_or_exit(repo, argv, Locks::kSeccompAndLandlock); }},
           {"native jail", [&] { run_jailed(gate, repo, argv); }}},
          options.rounds);
}

void compare_jobs(const std::string& repo, const Options& options) {
  const int files = options.files;
  const std::unique_ptr<Gate> gate = open_gate({.repo = repo, .policy = policy_for({"git", "rg", "find", "dd"})});
  compare_job(*gate, repo, fmt::format("rg over {} files", files),
              {"rg", "--files-with-matches", fmt::format("^{}$", files / 2), "."}, options);
  compare_job(*gate, repo, fmt::format("git status in {} files", files), {"git", "status", "--short"}, options);
  compare_job(*gate, repo, fmt::format("find: one stat for each of {} files", files), {"find", repo, "-size", "+1M"},
              options);
  // Nothing but calls that do nothing: the kernel's price for any filter, at its highest.
  compare_job(*gate, repo, "600,000 one-byte reads and writes",
              {"dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=300000"}, options);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) options.rounds = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
    if (std::strcmp(argv[i], "--files") == 0) options.files = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
  }
  return options;
}

int main(const Options& options) {
  const TempDir dir;
  const fs::path repo = dir.path() / "repo";
  make_tree(repo, options.files);
  fs::current_path(repo);
  spawn_and_read({"git", "init", "--quiet"});
  spawn_and_read({"git", "add", "."});
  // Files as young as the index are read again by every status; a jail's repo is read-only, so settle that now.
  ::sleep(2);
  spawn_and_read({"git", "status", "--short"});
  compare_jobs(repo.string(), options);
  fs::current_path("/");
  return 0;
}

}  // namespace
}  // namespace sallyport::bench

int main(int argc, char** argv) { return sallyport::bench::main(sallyport::bench::parse(argc, argv)); }
