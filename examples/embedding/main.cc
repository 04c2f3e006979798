// The first program a newcomer writes: run git over an untrusted repo, require what must hold, print what happened.
//
//   embedding REPO
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <variant>

#include "sallyport/adapters.h"
#include "sallyport/gate.h"

namespace {

using namespace std::chrono_literals;
using sallyport::overloaded;

// What became of the tool. There is no catch-all: a new kind of outcome must not compile until it is handled here.
std::string words_for(const sallyport::Outcome& outcome) {
  return std::visit(
      overloaded{
          [](const sallyport::Completed& completed) {
            const auto* const code = std::get_if<sallyport::ExitCode>(&completed.fate);
            return code != nullptr ? "exit code " + std::to_string(code->value) : std::string("ended by a signal");
          },
          [](const sallyport::TimedOut&) { return std::string("out of time; everything it started was killed"); },
          [](const sallyport::OomKilled&) { return std::string("out of memory"); },
          [](const sallyport::NetworkDenied& denied) { return "refused to reach " + denied.host; },
          [](const sallyport::DiskQuotaExceeded&) { return std::string("wrote too much"); },
          [](const sallyport::Cancelled&) { return std::string("cancelled"); },
      },
      outcome);
}

sallyport::Status show_history(const char* repo) {
  const std::unique_ptr<sallyport::Gate> gate =
      SALLYPORT_TRY(sallyport::Gate::open(sallyport::GateConfig::from_environment(repo)));
  sallyport::AutoJail jail(*gate);  // the first jail that works on this host
  const sallyport::JailedSubprocessResult result = SALLYPORT_TRY(jail.run({
      .argv = {"git", "log", "--oneline", "-5"},
      .repo = repo,
      .cwd = repo,
      .limits = {.wall = 10s, .memory = sallyport::mebibytes(512)},
      .required = {sallyport::Guarantee::kNetIsolated, sallyport::Guarantee::kFsWriteConfined},
  }));
  std::printf("%s%s\n", result.stdout_stream.bytes.c_str(), words_for(result.outcome).c_str());
  std::printf("in force, by the jail '%s':\n", std::string(result.receipt.jail.name()).c_str());
  for (const sallyport::Established& entry : result.receipt.established) {
    std::printf("  %s\n", std::string(sallyport::name_of(entry.guarantee)).c_str());
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embedding REPO\n");
    return 2;
  }
  const sallyport::Status shown = show_history(argv[1]);
  if (shown) return 0;
  // A refusal, or something this host lacks; rarely something that went wrong once the tool had started.
  const sallyport::Error& error = shown.error();
  std::fprintf(stderr, "error: %s\nhint: %s\n", error.message.c_str(), error.hint.c_str());
  std::fprintf(stderr, "%s\n", error.tool_may_have_started ? "the tool may have run" : "the tool did not start");
  return 1;
}
