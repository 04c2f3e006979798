// A call whose tool is git, or starts it: git lists the repo's configuration first, in the same jail (ADR 0026).
#include <algorithm>
#include <utility>

#include "core/policy/env_filter.h"
#include "core/text/printable.h"
#include "gate/engine.h"
#include "gate/git_configuration.h"
#include "gate/layers.h"
#include "gate/staging.h"
#include "sallyport/event_name.h"

namespace sallyport {

Result<JailedSubprocessResult> Engine::ask_git(Jail& jail, const RepoOfCall& repo, const JailedSubprocessSpec& question,
                                               const GateConfig& config, const std::stop_token& stop) {
  AdmittedCall call = TRY(admit(config.allowlist, question, config.base_env));
  Prepared prepared = TRY(prepare(std::move(call), child_path_, question, repo));
  EngineCallHost host = host_for(prepared, Purpose::kRun);
  TRY(resolve_tool(jail, host, prepared));
  TRY(fit_layers(jail, question, Purpose::kRun, prepared.plan));  // the same view: git reads what an earlier run wrote
  overlay(prepared.plan.env, git_version_env());
  return run_in(jail, prepared, question, stop, {.silent = true});
}

void Engine::warn_of_newer_git(const std::string& version) {
  if (config_.events == nullptr || !is_newer_than_known_git(version)) return;
  std::call_once(warned_of_git_, [&] {
    config_.events->emit({.level = EventLevel::kWarning,
                          .name = event_name::kGitNewerThanKnown,
                          .fields = {{"version", printable(version)}, {"newest_known", std::string(kNewestKnownGit)}}});
  });
}

Result<JailedSubprocessResult> Engine::run_informed(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec,
                                                    const std::stop_token& stop) {
  const std::optional<GitQuestion> question = prepared.call.git_first;
  if (!question) return run_in(jail, prepared, spec, stop);
  // Nothing starts, not even the question to git, when the call would lack a guarantee that it requires. The call's
  // hosts do not apply to the question, so the two differ in what they establish only when there are hosts.
  if (!prepared.plan.allowed_hosts.empty()) {
    EngineCallHost host = host_for(prepared, Purpose::kExplain);
    TRY(stage(jail, host, prepared, Purpose::kExplain));
  }
  JailedSubprocessSpec asked = spec;
  asked.allow_package_scripts.reset();  // those are npm's; git runs none
  asked.repo = prepared.plan.repo;
  asked.cwd = prepared.plan.cwd;
  asked.repo_access = RepoAccess::kReadOnly;  // a question writes nothing, so no review follows
  GateConfig config = config_;
  // A tool that may start git needs this question even if the caller's policy does not have git in it.
  if (!question->tool_is_git) config.allowlist = Allowlist::builtin();
  const RepoOfCall repo{.path = config_.repo, .owner = prepared.paths.owner};
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  };
  Result<GitLearnt> learnt = learn_git_configuration(*question, asked, [&](const JailedSubprocessSpec& one) {
    JailedSubprocessSpec next = one;
    const auto left = spec.limits.wall - std::chrono::duration_cast<std::chrono::milliseconds>(spent());
    next.limits.wall = std::max(left, std::chrono::milliseconds(1));
    return ask_git(jail, repo, next, config, stop);
  });
  const bool no_git = !learnt && !question->tool_is_git && learnt.error().as<ToolMissingError>() != nullptr;
  if (no_git) return run_in(jail, prepared, spec, stop);
  if (!learnt) {
    Error error = std::move(learnt).error();
    error.tool_may_have_started = false;  // git may have; the call's tool has not
    return fail(std::move(error));
  }
  if (learnt->ended) return *std::move(learnt->ended);
  warn_of_newer_git(learnt->version);
  TRY(apply_git_configuration(prepared, config_.allowlist, child_path_, spec, learnt->configuration));
  return run_in(jail, prepared, spec, stop, {.spent = spent()});
}

}  // namespace sallyport
