#include "core/linux_jail.h"

#include "core/fs_view.h"

namespace sallyport {

std::vector<std::string> jail_env(const Plan& plan) {
  std::vector<std::string> env;
  for (const EnvVar& var : plan.env) {
    if (var.name != "HOME") env.push_back(var.name + "=" + var.value);
  }
  env.push_back("HOME=" + std::string(kJailHome));
  return env;
}

std::vector<Established> jail_establishes(const Plan& plan) {
  const char* write_lock = "mounts";  // and Landlock, if the kernel has it: known once the tool has started
  const Guarantee network = plan.allowed_hosts.empty() ? Guarantee::kNetIsolated : Guarantee::kNetEgressAllowlist;
  return {{Guarantee::kExecAllowlisted, "gate"},
          {Guarantee::kExecPinned, "identity"},
          {Guarantee::kEnvStripped, "gate"},
          {Guarantee::kFsReadonlySystem, write_lock},
          {Guarantee::kFsHomeHidden, "mount namespace"},
          {Guarantee::kFsPrivateTmp, "mount namespace"},
          {Guarantee::kFsWriteConfined, write_lock},
          {network, "network namespace"},
          {Guarantee::kNetDnsClosed, "network namespace"},
          {Guarantee::kProcPidIsolated, "pid namespace"},
          {Guarantee::kProcNoNewPrivs, "prctl"},
          {Guarantee::kProcCapsDropped, "capset"},
          {Guarantee::kProcSeccomp, "seccomp"},
          {Guarantee::kProcDiesWithParent, "pid namespace"},
          {Guarantee::kLimitWall, "supervisor"},
          {Guarantee::kLimitOutput, "supervisor"},
          {Guarantee::kLimitDisk, "tmpfs"}};
}

}  // namespace sallyport
