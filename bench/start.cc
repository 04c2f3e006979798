// What a start costs: bare posix_spawn, the gate without and with a jail, bwrap doing the same isolation, the hand-written
// floor, the CLI.
//
//   usage: sallyport_bench_start [--resident-gib N] [--rounds N]
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bench/floor.h"
#include "bench/gate.h"
#include "bench/measure.h"

namespace sallyport::bench {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::vector<std::string> kTools = {"git", "true"};

// The nearest that bwrap's own command line comes to the native jail's isolation.
Words bwrap_command(const std::string& repo, const Words& tool) {
  Words words = {"bwrap",
                 "--unshare-all",
                 "--unshare-user",
                 "--new-session",
                 "--die-with-parent",
                 "--uid",
                 "1000",
                 "--gid",
                 "1000",
                 "--cap-drop",
                 "ALL",
                 "--ro-bind",
                 "/usr",
                 "/usr",
                 "--symlink",
                 "usr/bin",
                 "/bin",
                 "--symlink",
                 "usr/lib",
                 "/lib",
                 "--symlink",
                 "usr/lib64",
                 "/lib64",
                 "--ro-bind",
                 "/etc/ssl/certs",
                 "/etc/ssl/certs",
                 "--proc",
                 "/proc",
                 "--dev",
                 "/dev",
                 "--tmpfs",
                 "/tmp",
                 "--ro-bind",
                 repo,
                 repo,
                 "--ro-bind",
                 repo,
                 "/work",
                 "--chdir",
                 repo,
                 "--"};
  words.insert(words.end(), tool.begin(), tool.end());
  return words;
}

// Memory the kernel cannot share away: every page is written.
void keep_resident(std::size_t gibibytes) {
  const std::size_t size = gibibytes << 30U;
  if (size == 0) return;
  char* block = static_cast<char*>(std::malloc(size));  // NOLINT: lives as long as the process
  if (block == nullptr) std::abort();
  std::memset(block, 1, size);
}

void run_in_gate(Gate& gate, const std::string& repo, const Words& argv, JailKind jail) {
  const Result<JailedSubprocessResult> result =
      gate.run({.argv = argv, .repo = repo, .cwd = repo, .limits = {.wall = 60s}}, jail, {});
  if (result && std::holds_alternative<Completed>(result->outcome)) return;
  fmt::print(stderr, "bench: {}\n", result ? "did not complete" : result.error().message);
  std::exit(1);
}

void on_floor(const std::string& repo) {
  const Finished finished = run_on_floor("/usr/bin/true", {"true"}, repo);
  if (finished.ok) return;
  fmt::print(stderr, "bench: floor: {}\n", finished.why);
  std::exit(1);
}

void compare_starts(const std::string& repo, const std::string& policy, int rounds) {
  const std::unique_ptr<Gate> opened = open_gate({.repo = repo, .policy = policy_for(kTools)});
  Gate& gate = *opened;
  const std::unique_ptr<Gate> warm = open_gate({.repo = repo, .policy = policy_for(kTools), .warm_jails = 4});
  const Words git = {"git", "--version"};
  compare("git --version, no jail",
          {{"posix_spawn + pipes + waitpid", [&] { spawn_and_read(git); }},
           {"library, no jail", [&] { run_in_gate(gate, repo, git, JailKind::kNone); }}},
          rounds);
  const Words smallest = {"true"};
  const auto cli = [&](const Words& options) {
    Words words = {SALLYPORT_BENCH_CLI, "run", "--repo", repo, "--cwd", repo, "--policy", policy};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "true"});
    return [words = std::move(words)] { spawn_and_read(words); };
  };
  const auto jailed = [&](Gate& one, JailKind jail) {
    return [&one, &repo, &smallest, jail] { run_in_gate(one, repo, smallest, jail); };
  };
  std::vector<Contestant> contestants = {{"bwrap", [&] { spawn_and_read(bwrap_command(repo, smallest)); }},
                                         {"posix_spawn + pipes + waitpid", [&] { spawn_and_read(smallest); }},
                                         {"floor", [&] { on_floor(repo); }},
                                         {"library, native jail", jailed(gate, JailKind::kNative)},
                                         {"library, bwrap jail", jailed(gate, JailKind::kBwrap)},
                                         {"library, landlock jail", jailed(gate, JailKind::kLandlock)},
                                         {"CLI, native jail", cli({})},
                                         // What a record on disk costs is not a start's; the others write none.
                                         {"CLI, native jail, no record", cli({"--no-audit"})},
                                         {"library, warm native jail", jailed(*warm, JailKind::kNative)}};
  compare("true, jailed (ratio to bwrap)", contestants, rounds);
}

}  // namespace
}  // namespace sallyport::bench

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::size_t resident = 0;
  int rounds = 200;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--resident-gib") == 0) resident = std::strtoul(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
  }
  const sallyport::bench::TempDir temporary;
  const fs::path& dir = temporary.path();
  fs::create_directory(dir / "repo");
  const fs::path policy = dir / "policy.toml";
  if (FILE* file = std::fopen(policy.c_str(), "w"); file != nullptr) {
    std::fputs(sallyport::bench::policy_for(sallyport::bench::kTools).c_str(), file);
    std::fclose(file);
  }
  fmt::print("caller with {} GiB resident, {} rounds\n\n", resident, rounds);
  sallyport::bench::keep_resident(resident);
  sallyport::bench::compare_starts((dir / "repo").string(), policy.string(), rounds);
  return 0;
}
