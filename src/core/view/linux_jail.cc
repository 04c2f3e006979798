#include "core/view/linux_jail.h"

#include <algorithm>

#include "core/errors.h"
#include "core/seccomp/program.h"
#include "core/seccomp/tracing.h"
#include "core/seccomp/uncounted.h"
#include "core/seccomp/unix_sockets.h"
#include "core/view/paths.h"

namespace sallyport {

std::vector<EnvVar> jail_variables() { return {{.name = "HOME", .value = std::string(kJailHome)}}; }

std::vector<EnvVar> env_with(std::span<const EnvVar> env, std::span<const EnvVar> own,
                             std::span<const std::string_view> without) {
  std::vector<EnvVar> all;
  for (const EnvVar& var : env) {
    const bool is_replaced = std::ranges::find(own, var.name, &EnvVar::name) != own.end();
    const bool is_dropped = std::ranges::find(without, var.name) != without.end();
    if (!is_replaced && !is_dropped) all.push_back(var);
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::vector<EnvVar> jail_env(const Plan& plan) { return env_with(plan.env, jail_variables()); }

std::vector<std::string> env_texts(std::span<const EnvVar> env) {
  std::vector<std::string> texts;
  texts.reserve(env.size());
  for (const EnvVar& var : env) texts.push_back(var.name + "=" + var.value);
  return texts;
}

Result<const BinaryIdentity*> file_of_host(const Executable& executable, JailKind jail) {
  const BinaryIdentity* const executed = executable.executed();
  if (executed == nullptr) return fail(jail_unavailable(jail, "it runs files of this host only"));
  return executed;
}

LandlockReach landlock_reach(std::span<const ViewEntry> view) {
  return writable_places_hold_nothing_protected(view) ? LandlockReach::kEverything : LandlockReach::kSystem;
}

bool may_write_the_host(const Plan& plan) {
  return plan.repo_access == RepoAccess::kWritable || !plan.extra_read_write.empty();
}

bool may_write_the_repo(const Plan& plan) {
  return plan.repo_access == RepoAccess::kWritable ||
         std::ranges::any_of(plan.extra_read_write, [&plan](const std::filesystem::path& path) {
           return is_inside(path, plan.repo) || is_inside(plan.repo, path);
         });
}

namespace {

Mechanism repo_mechanism(const PrivateLayer& layer) {
  if (layer.is_overlay()) return Mechanism::kOverlay;
  return layer.reflinked ? Mechanism::kReflinkCopy : Mechanism::kCopy;
}

bool has_no_unix_sockets(const Plan& plan) {
  return std::ranges::find(plan.required, Guarantee::kNetUnixIsolated) != plan.required.end();
}

}  // namespace

std::string jail_seccomp(const Plan& plan) {
  std::string program(seccomp::program());
  if (has_no_unix_sockets(plan)) program = seccomp::without_unix_sockets(program);
  if (plan.limits.memory) program = seccomp::without_uncounted(program);
  return plan.may_trace ? seccomp::with_tracing(program) : program;
}

namespace {

Mechanism write_lock(Guarantee guarantee, LandlockReach reach, const std::optional<RunFacts>& facts) {
  const bool guarded = guarantee == Guarantee::kFsReadonlySystem || reach == LandlockReach::kEverything;
  return facts && facts->landlocked && guarded ? Mechanism::kMountsAndLandlock : Mechanism::kMounts;
}

Established network(const Plan& plan, const std::optional<RunFacts>& facts) {
  if (plan.allowed_hosts.empty()) return {Guarantee::kNetIsolated, Mechanism::kNetworkNamespace};
  if (!facts) return {Guarantee::kNetEgressAllowlist, Mechanism::kNetworkNamespace};
  return {Guarantee::kNetEgressAllowlist,
          facts->ports_redirected ? Mechanism::kNetworkNamespaceAndNftables : Mechanism::kNetworkNamespaceUnnamed};
}

}  // namespace

void hold_by_carrying(std::vector<Established>& established, const std::optional<RunFacts>& facts) {
  const auto found = std::ranges::find(established, Guarantee::kNetEgressAllowlist, &Established::guarantee);
  if (found == established.end()) return;
  if (facts && !facts->connections_carried) {
    established.erase(found);
  } else {
    found->mechanism = Mechanism::kConnectionsCarried;
  }
}

std::vector<Established> jail_establishes(const Plan& plan, LandlockReach reach, const std::optional<RunFacts>& facts) {
  const auto locked = [&](Guarantee guarantee) { return Established{guarantee, write_lock(guarantee, reach, facts)}; };
  std::vector<Established> established = {
      {Guarantee::kExecAllowlisted, Mechanism::kGate},
      {Guarantee::kExecPinned, Mechanism::kIdentity},
      {Guarantee::kEnvStripped, Mechanism::kGate},
      locked(Guarantee::kFsReadonlySystem),
      {Guarantee::kFsHomeHidden, Mechanism::kMountNamespace},
      {Guarantee::kFsPrivateTmp, Mechanism::kMountNamespace},
      locked(Guarantee::kFsWriteConfined),
      network(plan, facts),
      {Guarantee::kNetDnsClosed, Mechanism::kNetworkNamespace},
      {Guarantee::kProcPidIsolated, Mechanism::kPidNamespace},
      {Guarantee::kProcNoNewPrivs, Mechanism::kPrctl},
      {Guarantee::kProcCapsDropped, Mechanism::kCapset},
      {Guarantee::kProcSeccomp, plan.may_trace ? Mechanism::kSeccompWithTracing : Mechanism::kSeccomp},
      {Guarantee::kProcDiesWithParent, Mechanism::kPidNamespace},
      {Guarantee::kLimitWall, Mechanism::kSupervisor},
      {Guarantee::kLimitOutput, Mechanism::kSupervisor},
      {Guarantee::kLimitDisk, Mechanism::kTmpfs},
      {Guarantee::kFsNoSetid, Mechanism::kSeccomp}};
  if (!may_write_the_host(plan)) {
    established.push_back(locked(Guarantee::kFsGitProtected));
  } else if (plan.git_access == GitAccess::kProtected) {
    established.push_back({Guarantee::kFsGitProtected, Mechanism::kMountsAndReview});
  }
  if (const PrivateLayer* const layer = plan.repo_layer(); layer != nullptr) {
    established.push_back({Guarantee::kFsRepoUntouched, repo_mechanism(*layer)});
  } else if (!may_write_the_repo(plan)) {
    established.push_back(locked(Guarantee::kFsRepoUntouched));
  }
  if (has_no_unix_sockets(plan)) established.push_back({Guarantee::kNetUnixIsolated, Mechanism::kSeccomp});
  return established;
}

}  // namespace sallyport
