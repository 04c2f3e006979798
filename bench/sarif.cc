// How fast a report of many findings is written: against copying as many bytes, which is the floor.
//
//   usage: sallyport_bench_sarif [--rounds N] [--findings N]
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/measure.h"
#include "jobs/report/sarif.h"

namespace {

sallyport::jobs::ScannerOutcome many_findings(std::size_t count) {
  sallyport::jobs::Ran ran;
  ran.findings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto line = static_cast<std::uint32_t>(i % 5000 + 1);
    ran.findings.push_back({.rule = "fetch-to-shell",
                            .severity = sallyport::jobs::Severity::kHigh,
                            .message = "text from the network goes straight into a shell",
                            .place = {.path = fmt::format("packages/p{}/src/file{}.sh", i % 97, i % 1009),
                                      .line = line,
                                      .column = 3,
                                      .end_line = line,
                                      .end_column = 42},
                            .fingerprint = fmt::format("{:016x}:1", i * 0x9E3779B97F4A7C15ULL)});
  }
  return ran;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sallyport;
  int rounds = 9;
  std::size_t findings = 100'000;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--rounds") rounds = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
    if (std::string_view(argv[i]) == "--findings") findings = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const jobs::ScannerOutcome outcome = many_findings(findings);
  const std::array<jobs::RuleInfo, 1> rules{jobs::RuleInfo{
      .id = "fetch-to-shell", .severity = jobs::Severity::kHigh, .summary = "text to a shell", .help = "Do not."}};
  const jobs::SarifRun run{.tool = "rg_curated", .category = "bench", .rules = rules, .outcome = &outcome};
  const std::string report = jobs::sarif(std::span(&run, 1), "0");
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    if (jobs::sarif(std::span(&run, 1), "0").size() != report.size()) return 1;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const double bytes = static_cast<double>(report.size()) * rounds;
  fmt::print("{} findings, {} bytes: {:.0f} MB/s\n", findings, report.size(), bytes / taken.count() / 1e6);
  bench::compare("the report",
                 {{"copying as many bytes", [&] { std::string(report.data(), report.size()).shrink_to_fit(); }},
                  {"writing it", [&] { static_cast<void>(jobs::sarif(std::span(&run, 1), "0")); }}},
                 rounds);
  return 0;
}
