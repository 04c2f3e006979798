#include "gate/prepare.h"

#include <fcntl.h>

#include <utility>

#include "core/make_plan.h"
#include "os/canonical.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

Result<std::vector<std::filesystem::path>> canonical_all(const std::vector<std::filesystem::path>& paths,
                                                         std::string_view field) {
  std::vector<std::filesystem::path> resolved;
  resolved.reserve(paths.size());
  for (const std::filesystem::path& path : paths) resolved.push_back(TRY(canonical_existing(path, field)));
  return resolved;
}

Result<CanonicalPaths> canonical_paths(const JailedSubprocessSpec& spec) {
  CanonicalPaths paths;
  paths.repo = TRY(canonical_directory(spec.repo, "repo"));
  paths.cwd = TRY(canonical_directory(spec.cwd, "cwd"));
  paths.extra_read_only = TRY(canonical_all(spec.extra_read_only, "ro"));
  paths.extra_read_write = TRY(canonical_all(spec.extra_read_write, "rw"));
  return paths;
}

std::vector<std::string> executed_argv(const Plan& plan, const PinnedTool& tool) {
  std::vector<std::string> argv = {tool.argv0};
  argv.insert(argv.end(), tool.argv_prefix.begin(), tool.argv_prefix.end());
  argv.insert(argv.end(), plan.argv.begin() + 1, plan.argv.end());
  return argv;
}

}  // namespace

Result<Prepared> prepare(const GateConfig& config, HashCache& hashes, const JailedSubprocessSpec& spec) {
  TRY(check_request(config.allowlist, spec));
  const CanonicalPaths paths = TRY(canonical_paths(spec));
  Plan plan = TRY(make_plan(config.allowlist, spec, paths, config.base_env));
  UniqueFd cwd = TRY(open_exactly(plan.cwd, O_PATH | O_DIRECTORY));
  PinnedTool tool = TRY(locate(plan.tool, config.search_path, plan.repo, hashes));
  std::vector<std::string> argv = executed_argv(plan, tool);
  BinaryIdentity executed = tool.interpreters.empty() ? tool.binary : tool.interpreters.front();
  return Prepared{.plan = std::move(plan),
                  .tool = std::move(tool),
                  .cwd = std::move(cwd),
                  .argv = std::move(argv),
                  .executed = std::move(executed)};
}

}  // namespace sallyport
