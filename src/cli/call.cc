#include "cli/call.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/container_choice.h"
#include "cli/repo_root.h"
#include "core/view/paths.h"
#include "os/canonical.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path repo;
  fs::path cwd;
};

fs::path from(const fs::path& base, const fs::path& path) { return path.is_absolute() ? path : base / path; }

// Resolves the part that exists; the gate refuses what is missing.
fs::path settled(const fs::path& path) {
  const Result<fs::path> canonical = canonical_directory(path, "path");
  return canonical ? *canonical : path;
}

// An empty cwd means that the current directory is gone and the user named no other.
Place find_place(const CallOptions& options, const Environment& environment, EventSink& events) {
  const fs::path& here = environment.current_directory;
  const bool lost = here.empty() && !(options.cwd && options.cwd->is_absolute());
  if (options.repo) {
    const fs::path repo = settled(from(here, *options.repo));
    if (lost) return Place{.repo = repo, .cwd = {}};
    if (options.cwd) return Place{.repo = repo, .cwd = settled(from(here, *options.cwd))};
    // If the user names only a repo and is elsewhere, use its root as cwd. If it is missing, the error must name the
    // repo, not the cwd.
    std::error_code unknown;
    const bool there = fs::is_directory(repo, unknown);
    return Place{.repo = repo, .cwd = there && !is_inside(here, repo) ? repo : here};
  }
  if (lost) return Place{};
  fs::path cwd = settled(options.cwd ? from(here, *options.cwd) : here);
  fs::path repo = repo_around(cwd, environment, events);
  return Place{.repo = std::move(repo), .cwd = std::move(cwd)};
}

std::vector<fs::path> all_from(const fs::path& base, const std::vector<fs::path>& paths) {
  std::vector<fs::path> out;
  for (const fs::path& path : paths) out.push_back(from(base, path));
  return out;
}

// An environment that names none gives an empty text, which the gate refuses.
std::optional<UpstreamProxyText> find_proxy(const CallOptions& options, const Environment& environment) {
  if (!options.proxy_of_environment) return options.via_proxy;
  return UpstreamProxyText{.url = environment.proxy.value_or(""), .without = environment.no_proxy.value_or("")};
}

}  // namespace

fs::path workspace_place(const CallOptions& options, const Environment& environment) {
  if (!options.workspace) return {};
  return options.workspace_dir ? from(environment.current_directory, *options.workspace_dir)
                               : workspace_dir(environment);
}

Call make_call(const CallOptions& options, const Environment& environment, EventSink& events) {
  Place place = find_place(options, environment, events);
  const fs::path& here = environment.current_directory;
  JailedSubprocessSpec spec{.argv = options.argv,
                            .repo = place.repo,
                            .cwd = std::move(place.cwd),
                            .repo_access = options.repo_access,
                            .git_access = options.git_access,
                            .extra_read_only = all_from(here, options.read_only),
                            .extra_read_write = all_from(here, options.read_write),
                            .hidden = all_from(here, options.hidden),
                            .no_exec = all_from(here, options.no_exec),
                            .env_extras = options.env,
                            .stdin_source = NullStdin{},
                            .allowed_egress = options.allowed_egress,
                            .allow_registry = options.allow_registry,
                            .strict_network = options.strict_network,
                            .limits = {.wall = options.timeout,
                                       .output = options.max_output,
                                       .memory = options.memory,
                                       .pids = options.pids,
                                       .cpu = options.cpu,
                                       .disk = options.disk},
                            .grace = options.grace,
                            .open_files = options.open_files,
                            .required = options.required,
                            .probe = options.probe,
                            .tap = {}};
  spec.speculation = options.speculation;
  spec.via_proxy = find_proxy(options, environment);
  spec.registry_auth = options.registry_auth;
  if (options.workspace) {
    spec.named_workspace =
        WorkspaceOptions{.state_dir = workspace_place(options, environment), .name = *options.workspace};
  }
  if (options.extra_ca) spec.extra_ca = from(here, *options.extra_ca);
  if (options.allow_unjailed) spec.allow_unjailed = AllowUnjailed();
  if (options.stdin_choice == StdinChoice::kOurs) spec.stdin_source = StdinFd{.fd = STDIN_FILENO};
  if (options.stdin_choice == StdinChoice::kOursItself) spec.stdin_source = RawStdinFd{.fd = STDIN_FILENO};
  GateConfig config = gate_config(environment, std::move(place.repo));
  config.policy = options.policy;
  config.events = &events;
  config.container = with_environment(options.container, environment);
  return Call{.config = std::move(config), .spec = std::move(spec)};
}

}  // namespace sallyport::cli
