#include "core/view/linux_jail.h"

#include <algorithm>

#include "core/seccomp/program.h"
#include "core/seccomp/uncounted.h"
#include "core/seccomp/unix_sockets.h"
#include "core/view/fs_view.h"

namespace sallyport {

std::vector<std::string> jail_env(const Plan& plan) {
  std::vector<std::string> env;
  for (const EnvVar& var : plan.env) {
    if (var.name != "HOME") env.push_back(var.name + "=" + var.value);
  }
  env.push_back("HOME=" + std::string(kJailHome));
  return env;
}

namespace {

bool may_write_the_host(const Plan& plan) {
  return plan.repo_access == RepoAccess::kWritable || !plan.extra_read_write.empty();
}

bool has_no_unix_sockets(const Plan& plan) {
  return std::ranges::find(plan.required, Guarantee::kNetUnixIsolated) != plan.required.end();
}

}  // namespace

std::string jail_seccomp(const Plan& plan) {
  std::string program(seccomp::program());
  if (has_no_unix_sockets(plan)) program = seccomp::without_unix_sockets(program);
  return plan.limits.memory ? seccomp::without_uncounted(program) : program;
}

std::vector<Established> jail_establishes(const Plan& plan) {
  const char* write_lock = "mounts";  // and Landlock, if the kernel has it: known once the tool has started
  const Guarantee network = plan.allowed_hosts.empty() ? Guarantee::kNetIsolated : Guarantee::kNetEgressAllowlist;
  std::vector<Established> established = {{Guarantee::kExecAllowlisted, "gate"},
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
                                          {Guarantee::kLimitDisk, "tmpfs"},
                                          {Guarantee::kFsNoSetid, "seccomp"}};
  if (!may_write_the_host(plan)) {
    established.push_back({Guarantee::kFsGitProtected, write_lock});
  } else if (plan.git_access == GitAccess::kProtected) {
    established.push_back({Guarantee::kFsGitProtected, "mounts and a review after the run"});
  }
  if (has_no_unix_sockets(plan)) established.push_back({Guarantee::kNetUnixIsolated, "seccomp"});
  return established;
}

}  // namespace sallyport
