#include "gate/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/errors.h"
#include "core/json/json.h"
#include "core/policy/make_plan.h"
#include "gate/audited.h"
#include "gate/git_report.h"
#include "gate/layers.h"
#include "gate/staging.h"
#include "gate/why.h"
#include "sallyport/event_name.h"
#include "sallyport/registry_allowlist.h"

namespace sallyport {
namespace {

std::string path_in(const std::vector<EnvVar>& env) {
  const auto path = std::ranges::find(env, "PATH", &EnvVar::name);
  return path == env.end() ? std::string() : path->value;
}

// This runs npm, so only an admitted call gets here. The call then passes admission again with npm's answer.
Result<JailedSubprocessSpec> with_registry(const JailedSubprocessSpec& spec, const GateConfig& config) {
  JailedSubprocessSpec more = spec;
  more.allow_registry = false;
  more.registry_auth = false;
  more.before_start = {};  // it was asked
  RegistryAllowlist registry = TRY(RegistryAllowlist::of_npm(config));
  if (spec.registry_auth) TRY(registry.add_credentials(config));
  registry.apply_to(more);
  return more;
}

JailedSubprocessSpec with_workspace(const JailedSubprocessSpec& spec, Workspace& workspace) {
  JailedSubprocessSpec more = spec;
  more.named_workspace.reset();
  more.workspace = &workspace;
  return more;
}

// For the audit log; empty for one without a name.
std::optional<std::string> workspace_name(const JailedSubprocessSpec& spec) {
  if (spec.named_workspace) return spec.named_workspace->name;
  if (spec.workspace == nullptr) return std::nullopt;
  return spec.workspace->name();
}

// One line for each jail that was tried, and the advice of the first, which is the preferred jail.
class NoneWorked {
 public:
  void add(const Jail& jail, const Error& error) {
    why_ += fmt::format("{}{}: {}", why_.empty() ? "" : "; ", jail.name(), error.message);
    if (!hint_) hint_ = error.hint;
    const auto* unavailable = error.as<JailUnavailable>();
    const bool missing = error.as<ToolMissingError>() != nullptr ||
                         (unavailable != nullptr && unavailable->problem == JailProblem::kNotInstalled);
    problem_ = missing ? JailProblem::kNotInstalled : JailProblem::kNotUsable;
  }
  // For a jail that works but gives less: a jail that was tried before it would give what is missing.
  [[nodiscard]] Error with_their_advice(Error refusal) const {
    if (hint_ && refusal.as<GuaranteeUnavailable>() != nullptr) refusal.hint = *hint_;
    return refusal;
  }
  [[nodiscard]] Error error() const {
    Error error = jail_unavailable(JailKind::kAuto, why_, hint_.value_or(std::string()));
    std::get<JailUnavailable>(error.detail).problem = problem_;
    return error;
  }

 private:
  std::string why_;
  std::optional<std::string> hint_;
  JailProblem problem_ = JailProblem::kNotUsable;
};

// Call before the run: kAuto gives less on this host than elsewhere, and the caller did not choose this jail by name.
void warn_of_weaker_jail(EventSink* events, const Jail& preferred, Jail& jail) {
  if (events == nullptr) return;
  std::vector<std::string_view> names;
  for (const Guarantee guarantee : jail.never_gives()) {
    const bool is_lost = std::ranges::find(preferred.never_gives(), guarantee) == preferred.never_gives().end();
    if (is_lost) names.push_back(name_of(guarantee));
  }
  if (names.empty() || !jail.usable()) return;
  events->emit({.level = EventLevel::kWarning,
                .name = event_name::kJailWeaker,
                .fields = {{"jail", std::string(jail.name())}, {"lost", fmt::format("{}", fmt::join(names, ", "))}}});
}

}  // namespace

Engine::Engine(GateConfig config, std::optional<Error> unusable, JailSet jails, SharedHostRoot& root)
    : config_(std::move(config)),
      unusable_(std::move(unusable)),
      jails_(std::move(jails)),
      root_(root),
      hashes_(config_.cache_dir),
      hashes_when_explaining_(config_.cache_dir, CacheAccess::kReadOnly),
      child_path_(path_in(config_.base_env)) {}

Result<AdmittedCall> Engine::admit_here(const JailedSubprocessSpec& spec) const {
  if (unusable_) return fail(*unusable_);
  return admit(config_.allowlist, spec, config_.base_env);
}

Status Engine::make_ready(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec, Purpose purpose) {
  EngineCallHost host = host_for(prepared, purpose);
  TRY(resolve_tool(jail, host, prepared));
  TRY(fit_layers(jail, spec, purpose, prepared.plan));
  if (jail.confinement() == Confinement::kNone) return {};
  return survey_writable_places(prepared);
}

AuditCall Engine::for_audit(const JailedSubprocessSpec& spec, JailKind jail) {
  return {.spec = spec,
          .jail = jail,
          .policy_digest = unusable_ ? std::string_view() : digest_of_policy(),
          .repo = spec.repo.empty() ? config_.repo : spec.repo,
          .job = config_.job,
          .workspace = workspace_name(spec)};
}

Result<JailedSubprocessResult> Engine::run(const JailedSubprocessSpec& spec, JailKind jail, std::stop_token stop) {
  return run_audited(config_, for_audit(spec, jail), [&] { return perform(spec, jail, stop); });
}

Error Engine::refuse(const Error& why) {
  const JailedSubprocessSpec none_yet;
  return record_refusal(config_, for_audit(none_yet, JailKind::kAuto), why);
}

Result<JailedSubprocessResult> Engine::perform(const JailedSubprocessSpec& spec, JailKind kind,
                                               const std::stop_token& stop) {
  AdmittedCall call = TRY(admit_here(spec));
  const std::span<Jail* const> candidates = TRY(jails_.candidates(kind));
  if (spec.before_start) TRY(spec.before_start());
  if (spec.allow_registry || spec.registry_auth) return perform(TRY(with_registry(spec, config_)), kind, stop);
  const std::unique_ptr<Workspace> named = TRY(open_named_workspace(spec, config_, Purpose::kRun));
  if (!named) return perform_admitted(std::move(call), candidates, spec, kind, stop);
  return perform_admitted(std::move(call), candidates, with_workspace(spec, *named), kind, stop);
}

// No separate probe: the first jail that can be built is used, and nothing is remembered. The kernel answers in
// microseconds, and a remembered "no" could outlive the sysctl that caused it.
Result<JailedSubprocessResult> Engine::perform_admitted(AdmittedCall call, std::span<Jail* const> candidates,
                                                        const JailedSubprocessSpec& spec, JailKind kind,
                                                        const std::stop_token& stop) {
  const RepoOfCall repo = RepoOfCall::at(config_.repo);
  // A jail built ahead would run as the caller; a repo with an owner needs another user.
  if (!repo.owner) candidates.front()->expect_run();
  Prepared prepared = TRY(prepare(std::move(call), child_path_, spec, repo));
  const WorkspacesInUse in_use = TRY(WorkspacesInUse::begin(spec));
  NoneWorked none_worked;
  for (Jail* const jail : candidates) {
    // A missing tool is missing for every jail; but a program that is missing at the start may be this jail's own.
    const Status ready = make_ready(*jail, prepared, spec, Purpose::kRun);
    if (!ready && ready.error().as<JailUnavailable>() == nullptr) return fail(ready.error());
    if (kind == JailKind::kAuto && ready) warn_of_weaker_jail(config_.events, *candidates.front(), *jail);
    Result<JailedSubprocessResult> result = ready ? try_in(*jail, prepared, spec, stop) : fail(ready.error());
    if (result || kind != JailKind::kAuto) return result;
    if (!host_cannot_jail(result.error())) return fail(none_worked.with_their_advice(std::move(result).error()));
    none_worked.add(*jail, result.error());
  }
  return fail(none_worked.error());
}

Result<JailedSubprocessResult> Engine::try_in(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec,
                                              const std::stop_token& stop) {
  Result<JailedSubprocessResult> result = run_informed(jail, prepared, spec, stop);
  hashes_.distrust(prepared.plan.extra_read_write);
  return result;
}

Result<Explanation> Engine::explain(const JailedSubprocessSpec& spec, JailKind kind) {
  AdmittedCall call = TRY(admit_here(spec));
  const std::span<Jail* const> candidates = TRY(jails_.candidates(kind));
  if (spec.allow_registry || spec.registry_auth) return explain(TRY(with_registry(spec, config_)), kind);
  const std::unique_ptr<Workspace> named = TRY(open_named_workspace(spec, config_, Purpose::kExplain));
  if (!named) return explain_admitted(std::move(call), candidates, spec, kind);
  return explain_admitted(std::move(call), candidates, with_workspace(spec, *named), kind);
}

Result<Explanation> Engine::explain_admitted(AdmittedCall call, std::span<Jail* const> candidates,
                                             const JailedSubprocessSpec& spec, JailKind kind) {
  Prepared prepared = TRY(prepare(std::move(call), child_path_, spec, RepoOfCall::at(config_.repo)));
  Jail* chosen = candidates.front();
  NoneWorked none_worked;
  if (kind == JailKind::kAuto) {
    const auto found = std::ranges::find_if(candidates, [&none_worked](Jail* jail) {
      const Status usable = jail->usable();
      if (!usable) none_worked.add(*jail, usable.error());
      return usable.has_value();
    });
    if (found == candidates.end()) return fail(none_worked.error());
    chosen = *found;
  }
  TRY(make_ready(*chosen, prepared, spec, Purpose::kExplain));
  EngineCallHost host = host_for(prepared, Purpose::kExplain);
  Result<Staging> staged = stage(*chosen, host, prepared, Purpose::kExplain);
  if (!staged) return fail(none_worked.with_their_advice(std::move(staged).error()));
  Staging& staging = *staged;
  Plan plan = prepared.plan;
  std::string digest = plan_digest(plan);
  plan.env = staging.run->environment(prepared.plan);
  std::ranges::sort(plan.env, {}, &EnvVar::name);
  return Explanation{.plan = std::move(plan),
                     .plan_digest = std::move(digest),
                     .jail = chosen->kind(),
                     .confinement = chosen->confinement(),
                     .would_establish = std::move(staging.would_establish),
                     .rendered = staging.run->describe(),
                     .binary = prepared.tool->identity,
                     .interpreters = prepared.tool->interpreters};
}

Status Engine::warm_up(const JailedSubprocessSpec& spec) {
  if (!workspaces_of(spec).empty() || spec.named_workspace) {
    return fail(invalid_request("workspace", "no jail waits with one: it belongs to one run at a time"));
  }
  AdmittedCall call = TRY(admit_here(spec));
  Prepared prepared = TRY(prepare(std::move(call), child_path_, spec, RepoOfCall::at(config_.repo)));
  Jail& jail = *TRY(jails_.candidates(JailKind::kAuto)).front();
  TRY(make_ready(jail, prepared, spec, Purpose::kRun));
  EngineCallHost host = host_for(prepared, Purpose::kRun);  // only now do we know if it joins a cgroup
  return TRY(stage(jail, host, prepared, Purpose::kRun)).run->warm_up();
}

WarmCounts Engine::warm_counts() {
  WarmCounts sum;
  for (Jail* const jail : jails_.all()) {
    const WarmCounts one = jail->warm_counts();
    sum.warm += one.warm;
    sum.cold += one.cold;
    sum.spoiled += one.spoiled;
  }
  return sum;
}

}  // namespace sallyport
