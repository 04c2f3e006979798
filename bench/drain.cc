// How fast output is taken in: a bare read loop on the same pipe, and the gate with its ring of 64 MiB.
//
//   usage: sallyport_bench_drain [--rounds N]
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bench/measure.h"
#include "sallyport/gate.h"

namespace {

constexpr const char* kPolicy = R"(
schema = "sallyport.policy/1"
[[tool]]
name = "head"
decision_record = "bench"
reason = "writes as fast as it can"
)";

}  // namespace

int main(int argc, char** argv) {
  using namespace sallyport;
  using namespace std::chrono_literals;
  const std::vector<std::string> writer = {"head", "-c", std::to_string(4ULL << 30U), "/dev/zero"};
  Result<Allowlist> allowlist = Allowlist::from_policy(kPolicy, "bench");
  char name[] = "/tmp/sallyport-bench-XXXXXX";
  if (!allowlist || ::mkdtemp(name) == nullptr) return 1;
  const std::filesystem::path repo = name;
  Result<std::unique_ptr<Gate>> gate = Gate::open({.repo = repo,
                                                   .allowlist = *std::move(allowlist),
                                                   .search_path = {"/usr/bin", "/bin"},
                                                   .base_env = {{"PATH", "/usr/bin:/bin"}}});
  if (!gate) return 1;
  const auto through_gate = [&] {
    const Result<JailedSubprocessResult> result =
        (*gate)->run({.argv = writer, .repo = repo, .cwd = repo, .limits = {.wall = 10min}}, JailKind::kNone, {});
    if (!result || result->stdout_stream.total_bytes != 4ULL << 30U) std::exit(1);
  };
  int rounds = 5;
  if (argc == 3 && std::string_view(argv[1]) == "--rounds")
    rounds = static_cast<int>(std::strtol(argv[2], nullptr, 10));
  bench::compare("4 GiB to stdout (rate = 1 / ratio)",
                 {{"bare read loop", [&] { bench::spawn_and_read(writer); }}, {"gate, 64 MiB cap", through_gate}},
                 rounds);
  std::filesystem::remove_all(repo);
  return 0;
}
