// How fast output is taken in: a bare read loop on the same pipe, and the gate with its ring of 64 MiB.
//
//   usage: sallyport_bench_drain [--rounds N] [--gib N]
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "bench/gate.h"
#include "bench/measure.h"

int main(int argc, char** argv) {
  using namespace sallyport;
  using namespace std::chrono_literals;
  int rounds = 5;
  std::uint64_t gib = 4;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--rounds") rounds = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
    if (std::string_view(argv[i]) == "--gib") gib = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const bench::TempDir dir;
  const std::filesystem::path& repo = dir.path();
  const std::unique_ptr<Gate> gate = bench::open_gate({.repo = repo, .policy = bench::policy_for({"head"})});
  // Just at the cap, and far past it.
  for (const std::uint64_t mib : {std::uint64_t{64}, gib << 10U}) {
    const std::vector<std::string> writer = {"head", "-c", std::to_string(mib << 20U), "/dev/zero"};
    const auto through_gate = [&] {
      const Result<JailedSubprocessResult> result =
          gate->run({.argv = writer, .repo = repo, .cwd = repo, .limits = {.wall = 10min}}, JailKind::kNone, {});
      if (!result || result->stdout_stream.total_bytes != mib << 20U) std::exit(1);
    };
    bench::compare(fmt::format("{} MiB to stdout (rate = 1 / ratio)", mib),
                   {{"bare read loop", [&] { bench::spawn_and_read(writer); }}, {"gate, 64 MiB cap", through_gate}},
                   rounds);
  }
  return 0;
}
