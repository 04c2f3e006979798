// The composition root: reads the environment once, and passes it to one verb.
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/environment.h"

namespace sallyport::cli {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread is started
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

// The first of several variables (different spellings of one, for example); an empty one counts as unset.
std::optional<std::string> first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::optional<std::string> value = variable(name);
    if (value && !value->empty()) return value;
  }
  return std::nullopt;
}

// Set by GitHub Actions and compatible services, Azure Pipelines, and TeamCity.
bool names_build_service() {
  for (const char* name : {"GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"}) {
    const std::optional<std::string> value = variable(name);
    if (value && !value->empty()) return true;
  }
  return false;
}

Environment read_environment() {
  std::error_code unknown;
  return {.path = variable("PATH"),
          .home = variable("HOME"),
          .lang = variable("LANG"),
          .lc_all = variable("LC_ALL"),
          .xdg_cache_home = variable("XDG_CACHE_HOME"),
          .xdg_state_home = variable("XDG_STATE_HOME"),
          .sudo_uid = variable("SUDO_UID"),
          .proxy = first_of({"https_proxy", "HTTPS_PROXY", "http_proxy"}),
          .no_proxy = first_of({"no_proxy", "NO_PROXY"}),
          .variable = [](const std::string& name) { return variable(name.c_str()); },
          .in_build_log = names_build_service(),
          .current_directory = std::filesystem::current_path(unknown)};
}

int dispatch(const std::vector<std::string>& args) {
  const Environment environment = read_environment();
  expect_build_log(environment.in_build_log);
  Format format = Format::kText;
  const Result<Action> action = parse_command_line(args, format);
  if (!action) return report(action.error(), format);
  return (*action)(environment);
}

}  // namespace
}  // namespace sallyport::cli

int main(int argc, char** argv) {
  // A short-lived process: let the heap grow once, and never shrink it.
  mallopt(M_TOP_PAD, 1 << 20);         // NOLINT(concurrency-mt-unsafe): before any thread is started
  mallopt(M_TRIM_THRESHOLD, 1 << 30);  // NOLINT(concurrency-mt-unsafe): likewise
  sallyport::cli::secure_standard_streams();
  // When a reader is gone, one write must fail (EPIPE); the process must not die, because it supervises a child.
  signal(SIGPIPE, SIG_IGN);
  // The same for a file that reaches the caller's limit (EFBIG). Tools get both signals with their defaults.
  signal(SIGXFSZ, SIG_IGN);
  // Our parent may ignore SIGCHLD, and we would inherit that: then the kernel would reap our children, and we could not
  // learn how a jail ended.
  signal(SIGCHLD, SIG_DFL);
  return sallyport::cli::dispatch({argv + (argc > 0 ? 1 : 0), argv + argc});
}
