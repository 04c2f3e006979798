#include "jails/sandbox_exec/check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/errors.h"
#include "core/view/linux_jail.h"

namespace sallyport::sandbox_exec {
namespace {

constexpr auto kReplaced =
    std::to_array<std::string_view>({"HOME", "HTTPS_PROXY", "TEMP", "TMP", "TMPDIR", "https_proxy"});

Status refuse(Guarantee guarantee, std::string_view why, std::string_view hint) {
  return fail(guarantee_unavailable(guarantee, why, hint));
}

}  // namespace

Status check_plan(const Plan& plan) {
  if (plan.limits.disk) {
    return refuse(Guarantee::kLimitDisk, "without a mount of its own the scratch directory has no bound",
                  "leave the disk limit out");
  }
  if (plan.limits.memory) {
    return refuse(Guarantee::kLimitMemory, "macOS bounds the memory of no tree of processes",
                  "leave the memory limit out");
  }
  if (plan.limits.pids) {
    return refuse(Guarantee::kLimitPids, "macOS counts the processes of a user, not of a run",
                  "leave the limit of processes out");
  }
  if (plan.extra_ca) {
    return fail(invalid_request("extra_ca", "this jail has no place for the system's certificates together with yours",
                                "leave `extra_ca` out"));
  }
  if (plan.run_as) {
    return fail(invalid_request("repo", "it belongs to another user, and this jail cannot run a tool as another user",
                                "start the gate as the repo's owner"));
  }
  return {};
}

std::vector<Established> establishes(const Plan& plan) {
  std::vector<Established> established = {
      {Guarantee::kExecAllowlisted, Mechanism::kGate},
      {Guarantee::kEnvStripped, Mechanism::kGate},
      {Guarantee::kFsReadonlySystem, Mechanism::kSandboxProfile},
      {Guarantee::kFsHomeHidden, Mechanism::kSandboxProfile},
      {Guarantee::kFsPrivateTmp, Mechanism::kSandboxPrivateDirectory},
      {Guarantee::kFsWriteConfined, Mechanism::kSandboxProfile},
      plan.allowed_hosts.empty() ? Established{Guarantee::kNetIsolated, Mechanism::kSandboxProfile}
                                 : Established{Guarantee::kNetEgressAllowlist, Mechanism::kSandboxProfileAndProxy},
      {Guarantee::kNetUnixIsolated, Mechanism::kSandboxProfile},
      {Guarantee::kLimitOutput, Mechanism::kSupervisor}};
  if (plan.limits.cpu) established.push_back({Guarantee::kLimitCpu, Mechanism::kRlimitPerProcess});
  if (!may_write_the_repo(plan)) established.push_back({Guarantee::kFsRepoUntouched, Mechanism::kSandboxProfile});
  if (!may_write_the_host(plan)) established.push_back({Guarantee::kFsGitProtected, Mechanism::kSandboxProfile});
  return established;
}

std::vector<EnvVar> environment(const Plan& plan, const RunsOwn& own) {
  std::vector<EnvVar> variables = {{.name = "HOME", .value = own.private_dir + "/home"},
                                   {.name = "TMPDIR", .value = own.private_dir + "/tmp"}};
  // Some programs read one name, some the other.
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) {
    if (!own.proxy_url.empty()) variables.push_back({.name = name, .value = own.proxy_url});
  }
  return env_with(plan.env, variables, kReplaced);
}

}  // namespace sallyport::sandbox_exec
