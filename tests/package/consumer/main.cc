// An outside program: opens a gate over the directory it is given and runs git through it.
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>
#include <variant>

#include "sallyport/gate.h"

#ifdef TRY
#error "a public header leaks TRY"
#endif

namespace {

using namespace std::chrono_literals;

sallyport::Result<sallyport::ProcessResult> git_version(const char* repo) {
  sallyport::GateConfig config{
      .repo = repo, .search_path = {"/usr/bin", "/bin"}, .base_env = {{.name = "PATH", .value = "/usr/bin:/bin"}}};
  const std::unique_ptr<sallyport::Gate> gate = SALLYPORT_TRY(sallyport::Gate::open(std::move(config)));
  return sallyport::run_allowlisted(*gate, {"git", "--version"}, {.cwd = repo, .timeout = 30s});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto result = git_version(argv[1]);
  if (!result) {
    std::fprintf(stderr, "consumer: error: %s\nhint: %s\n", result.error().message.c_str(),
                 result.error().hint.c_str());
    return 1;
  }
  std::fputs(result->stdout_stream.bytes.c_str(), stdout);
  const auto* exit_code = std::get_if<sallyport::ExitCode>(&result->fate);
  return exit_code != nullptr && exit_code->value == 0 && result->stdout_stream.bytes.starts_with("git version") ? 0
                                                                                                                 : 1;
}
