#include "gate/call_host.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/policy/hardening.h"
#include "core/policy/jail_launchers.h"
#include "gate/egress_session.h"
#include "gate/make_view.h"
#include "locate/npm_installation.h"
#include "locate/tool_locator.h"

namespace sallyport {
namespace {

std::string home_of(const GateConfig& config) {
  const auto home = std::ranges::find(config.base_env, "HOME", &EnvVar::name);
  return home == config.base_env.end() ? std::string() : home->value;
}

Executable executable_of(PinnedTool tool) {
  return {.identity = std::move(tool.binary),
          .interpreters = std::move(tool.interpreters),
          .argv0 = std::move(tool.argv0),
          .argv_prefix = std::move(tool.argv_prefix),
          .file = std::move(tool.exe),
          .exec_path = std::move(tool.exec_path)};
}

}  // namespace

Result<std::shared_ptr<const Executable>> EngineCallHost::pin_tool() {
  if (prepared_.host_tool) return prepared_.host_tool;
  const Plan& plan = prepared_.plan;
  hashes_.stay_out_of(plan.repo, plan.extra_read_write);
  PinnedTool pinned = TRY(locate(plan.tool, config_.search_path, plan.repo, hashes_));
  if (reads_npm_layout(plan.tool)) prepared_.npm_layout = read_npm_layout(pinned);
  prepared_.tool_names = pinned.names;
  prepared_.host_tool = std::make_shared<const Executable>(executable_of(std::move(pinned)));
  return prepared_.host_tool;
}

Result<Executable> EngineCallHost::pin_wrapper(std::string_view name) {
  const ToolEntry* wrapper = Allowlist::builtin().find(name);
  std::vector<std::filesystem::path> search_path = config_.search_path;
  if (wrapper == nullptr) {
    wrapper = find_jail_launcher(name);
    // Where distributions put programs that are not on a plain user's PATH.
    search_path.insert(search_path.end(), {"/usr/sbin", "/usr/local/sbin"});
  }
  if (wrapper == nullptr || (wrapper->role != Role::kWrapper && !launches_jails_too(name))) {
    return fail(disallowed_subprocess(name, "it is no wrapper of the built-in set and no jail's launcher", {}));
  }
  return executable_of(TRY(locate(*wrapper, search_path, prepared_.plan.repo, hashes_)));
}

Result<HeldLimits> EngineCallHost::hold_limits(const LimitsWanted& wanted) {
  const Plan& plan = prepared_.plan;
  if (purpose_ == Purpose::kExplain) {
    resources_.established = expected_limits(plan.limits);
    return HeldLimits();
  }
  resources_ = TRY(acquire_resources(plan.limits, plan.required, wanted));
  if (plan.open_files) resources_.rlimits.push_back({RLIMIT_NOFILE, *plan.open_files, *plan.open_files});
  return HeldLimits{
      .rlimits = resources_.rlimits, .cgroup_procs = resources_.procs_fds(), .watch_memory = resources_.watch_memory};
}

Result<const HostView*> EngineCallHost::view() {
  if (!view_) view_ = TRY(make_view(prepared_, root_.get(), home_of(config_), purpose_));
  return &*view_;
}

Result<const spawn::NetworkSpec*> EngineCallHost::network() {
  if (!network_) network_ = TRY(network_for(prepared_.plan));
  return &*network_;
}

}  // namespace sallyport
