#include "gate/prepare.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/policy/make_plan.h"
#include "gate/protected_paths.h"
#include "locate/npm_installation.h"
#include "os/canonical.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

Result<CanonicalPaths> canonical_paths(const JailedSubprocessSpec& spec) {
  CanonicalPaths paths;
  paths.repo = TRY(canonical_directory(spec.repo, "repo"));
  paths.cwd = TRY(canonical_directory(spec.cwd, "cwd"));
  TRY(resolve_extras(spec, paths));
  return paths;
}

// An unset PATH makes libc look in the system's own directories; an empty one would mean the working directory.
std::vector<EnvVar> with_path(std::vector<EnvVar> env, std::string trusted) {
  std::erase_if(env, [](const EnvVar& var) { return var.name == "PATH"; });
  if (!trusted.empty()) env.push_back({.name = "PATH", .value = std::move(trusted)});
  return env;
}

std::vector<std::string> executed_argv(const Plan& plan, const PinnedTool& tool) {
  std::vector<std::string> argv = {tool.argv0};
  argv.insert(argv.end(), tool.argv_prefix.begin(), tool.argv_prefix.end());
  argv.insert(argv.end(), plan.argv.begin() + 1, plan.argv.end());
  return argv;
}

}  // namespace

namespace {

// A Unix socket that is handed over as stdin can be sent wherever its type lets it. One that is only copied from cannot.
Status check_stdin(const JailedSubprocessSpec& spec) {
  const auto* given = std::get_if<RawStdinFd>(&spec.stdin_source);
  const bool matters = std::ranges::find(spec.required, Guarantee::kNetUnixIsolated) != spec.required.end();
  struct stat info{};
  if (given == nullptr || !matters || ::fstat(given->fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return {};
  return fail(
      guarantee_unavailable(Guarantee::kNetUnixIsolated, "stdin is a socket", "pass the bytes, or a pipe or file"));
}

// What depends on the version that was found.
void fit_to_tool(Plan& plan, const PinnedTool& tool) {
  if (plan.tool.hardening == "npm") hardening::fit_to_npm(read_npm_layout(tool), plan.argv, plan.env);
}

}  // namespace

Result<Prepared> prepare(const GateConfig& config, HashCache& hashes, ChildPath& child_path,
                         const JailedSubprocessSpec& spec) {
  TRY(check_request(config.allowlist, spec));
  TRY(check_stdin(spec));
  const CanonicalPaths paths = TRY(canonical_paths(spec));
  const std::vector<EnvVar> base_env = with_path(config.base_env, child_path.trusted_for(paths.repo));
  Plan plan = TRY(make_plan(config.allowlist, spec, paths, base_env));
  UniqueFd cwd = TRY(open_exactly(plan.cwd, O_PATH | O_DIRECTORY));
  hashes.stay_out_of(plan.repo, plan.extra_read_write);
  PinnedTool tool = TRY(locate(plan.tool, config.search_path, plan.repo, hashes));
  fit_to_tool(plan, tool);
  std::vector<std::string> argv = executed_argv(plan, tool);
  BinaryIdentity executed = tool.interpreters.empty() ? tool.binary : tool.interpreters.front();
  return Prepared{.plan = std::move(plan),
                  .tool = std::move(tool),
                  .cwd = std::move(cwd),
                  .argv = std::move(argv),
                  .executed = std::move(executed),
                  .git = {},
                  .write_doubt = {}};
}

Status apply_git_configuration(Prepared& prepared, const GateConfig& config, ChildPath& child_path,
                               const JailedSubprocessSpec& spec, const GitConfiguration& git) {
  const CanonicalPaths paths{.repo = prepared.plan.repo,
                             .cwd = prepared.plan.cwd,
                             .extra_read_only = prepared.plan.extra_read_only,
                             .extra_read_write = prepared.plan.extra_read_write};
  const std::vector<EnvVar> base_env = with_path(config.base_env, child_path.trusted_for(paths.repo));
  Plan plan = TRY(make_plan(config.allowlist, spec, paths, base_env, git));
  fit_to_tool(plan, prepared.tool);
  prepared.plan = std::move(plan);
  prepared.argv = executed_argv(prepared.plan, prepared.tool);
  return {};
}

}  // namespace sallyport
