#include "gate/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/policy/known_guarantee.h"
#include "gate/tool_files.h"

namespace sallyport {
namespace {

bool has(const std::vector<Established>& established, Guarantee guarantee) {
  return std::ranges::find(established, guarantee, &Established::guarantee) != established.end();
}

Error not_given(const Jail& jail, const EngineCallHost& host, Guarantee guarantee) {
  const std::span<const LostGuarantee> losses = host.lost();
  const auto lost = std::ranges::find(losses, guarantee, &LostGuarantee::guarantee);
  if (lost != losses.end()) {
    return guarantee_unavailable(guarantee, fmt::format("{} is shown: {}", lost->path, lost->why),
                                 "show another path, or do not require it");
  }
  return guarantee_unavailable(guarantee, fmt::format("the jail \"{}\" does not give it to this call", jail.name()),
                               "choose another jail, set the limit it belongs to, or do not require it");
}

// Guarantees that the caller asked for, so that it must not lose one silently.
std::vector<Guarantee> asked_for(const Plan& plan) {
  std::vector<Guarantee> asked;
  if (!plan.allowed_hosts.empty()) asked.push_back(Guarantee::kNetEgressAllowlist);
  if (plan.limits.memory) asked.push_back(Guarantee::kLimitMemory);
  if (plan.limits.pids) asked.push_back(Guarantee::kLimitPids);
  if (plan.limits.cpu) asked.push_back(Guarantee::kLimitCpu);
  if (plan.limits.disk) asked.push_back(Guarantee::kLimitDisk);
  return asked;
}

Status check_given(const Jail& jail, const EngineCallHost& host, const Plan& plan,
                   const std::vector<Established>& established) {
  for (const Guarantee guarantee : plan.required) {
    if (!has(established, guarantee)) return fail(not_given(jail, host, guarantee));
  }
  for (const Guarantee guarantee : asked_for(plan)) {
    if (!has(established, guarantee)) return fail(not_given(jail, host, guarantee));
  }
  return {};
}

Status check_unjailed(const Jail& jail, const Plan& plan) {
  if (jail.confinement() != Confinement::kNone || plan.needs_jail.empty() || plan.allow_unjailed) return {};
  return fail(invalid_request("jail", fmt::format("{} may not run without one: {}", plan.tool.name, plan.needs_jail),
                              "choose a jail, or say `allow_unjailed`"));
}

Status check_ca(const Jail& jail, const Plan& plan) {
  if (jail.confinement() != Confinement::kNone || !plan.extra_ca) return {};
  return fail(invalid_request(
      "extra_ca", "without a jail there is nowhere to put the system's certificates and yours together",
      "choose a jail, or pass the variable that the tool reads in `env_extras`, SSL_CERT_FILE for one"));
}

Status check_restrictions(const Jail& jail, const Plan& plan) {
  if (jail.confinement() != Confinement::kNone || (plan.hidden.empty() && plan.no_exec.empty())) return {};
  return fail(invalid_request("jail", "without one nothing can be hidden or kept from running",
                              "choose a jail, or leave `hidden` and `no_exec` out"));
}

}  // namespace

std::vector<Established> with_gates_part(const Jail& jail, std::vector<Established> by_jail, const EngineCallHost& host,
                                         const Prepared& prepared) {
  const auto drop = [&by_jail](Guarantee guarantee) {
    std::erase_if(by_jail, [&](const Established& entry) { return entry.guarantee == guarantee; });
  };
  // A jail of an embedding program may list anything: drop entries that name no guarantee, or no means that gives it.
  std::erase_if(by_jail, [](const Established& entry) {
    return !is_guarantee(entry.guarantee) || !is_mechanism(entry.mechanism);
  });
  for (const LostGuarantee& lost : host.lost()) drop(lost.guarantee);
  if (!prepared.git.weakness().empty()) drop(Guarantee::kFsGitProtected);
  if (!prepared.write_doubt.empty()) drop(Guarantee::kFsWriteConfined);
  const std::vector<Established>& limits = host.resources().established;
  by_jail.insert(by_jail.end(), limits.begin(), limits.end());
  // Jails share steps, and what a step does for one it need not do for another; limits are such steps, too.
  for (const Guarantee never : jail.never_gives()) drop(never);
  return by_jail;
}

Status check_established(const Jail& jail, const StagedRun& run, const RunFacts& facts, const EngineCallHost& host,
                         const Prepared& prepared) {
  return check_given(jail, host, prepared.plan, with_gates_part(jail, run.established(facts), host, prepared));
}

Result<Staging> stage(Jail& jail, EngineCallHost& host, const Prepared& prepared, Purpose purpose,
                      bool another_follows) {
  const Plan& plan = prepared.plan;
  TRY(check_tool_files(plan, jail.confinement(), prepared.workspace));
  TRY(check_unjailed(jail, plan));
  TRY(check_restrictions(jail, plan));
  TRY(check_ca(jail, plan));
  std::unique_ptr<StagedRun> run = TRY(jail.stage({.plan = plan,
                                                   .executable = *prepared.tool,
                                                   .cwd = prepared.cwd.get(),
                                                   .purpose = purpose,
                                                   .another_follows = another_follows,
                                                   .host = host}));
  if (!run) return fail(jail_unavailable(jail.kind(), "it staged nothing"));
  std::vector<Established> would = with_gates_part(jail, run->would_establish(), host, prepared);
  TRY(check_given(jail, host, plan, would));
  return Staging{.run = std::move(run), .would_establish = std::move(would)};
}

}  // namespace sallyport
