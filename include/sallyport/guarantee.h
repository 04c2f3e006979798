// The only vocabulary for isolation. A guarantee has a stable name, an attack that succeeds without it
// (src/attack/program), and an entry in a run's Receipt if it was established. Add where needed; never reuse a name. A
// call that requires a guarantee that does not hold gets GuaranteeUnavailable (error.h). The rules: docs/contract.md,
// C19 and C26.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sallyport {

enum class Guarantee : std::uint8_t {
  kExecAllowlisted,
  kExecPinned,
  kEnvStripped,
  kFsReadonlySystem,
  kFsHomeHidden,
  kFsPrivateTmp,
  kFsWriteConfined,
  kNetIsolated,
  kNetEgressAllowlist,
  kNetDnsClosed,
  kProcPidIsolated,
  kProcNoNewPrivs,
  kProcCapsDropped,
  kProcSeccomp,
  kProcDiesWithParent,
  kLimitWall,
  kLimitOutput,
  kLimitMemory,
  kLimitPids,
  kLimitCpu,
  kLimitDisk,
  kFsGitProtected,
  kNetUnixIsolated,
  kFsNoSetid,
  kFsRepoUntouched,
  kKernelSeparate,
};

struct GuaranteeInfo {
  Guarantee guarantee;
  std::string_view name;     // as in --require, receipts and docs
  std::string_view promise;  // one line for people
};

inline constexpr auto kGuarantees = std::to_array<GuaranteeInfo>({
    GuaranteeInfo{Guarantee::kExecAllowlisted, "exec.allowlisted",
                  "only a tool of the closed, governed set is started"},
    GuaranteeInfo{Guarantee::kExecPinned, "exec.pinned", "the file executed is the file that was checked"},
    GuaranteeInfo{Guarantee::kEnvStripped, "env.stripped", "only PATH, HOME, LANG, LC_ALL and named extras are passed"},
    GuaranteeInfo{Guarantee::kFsReadonlySystem, "fs.readonly_system", "system directories cannot be written"},
    GuaranteeInfo{Guarantee::kFsHomeHidden, "fs.home_hidden", "home directories, /root and /run are not there"},
    GuaranteeInfo{Guarantee::kFsPrivateTmp, "fs.private_tmp", "/tmp and /dev/shm are the run's own and vanish with it"},
    GuaranteeInfo{Guarantee::kFsWriteConfined, "fs.write_confined", "writes reach only what the caller made writable"},
    GuaranteeInfo{Guarantee::kNetIsolated, "net.isolated", "no network but a private loopback"},
    GuaranteeInfo{Guarantee::kNetEgressAllowlist, "net.egress_allowlist", "only the named hosts can be reached"},
    GuaranteeInfo{Guarantee::kNetDnsClosed, "net.dns_closed", "no name is looked up outside the allowlist"},
    GuaranteeInfo{Guarantee::kProcPidIsolated, "proc.pid_isolated",
                  "other processes can be neither seen nor signalled"},
    GuaranteeInfo{Guarantee::kProcNoNewPrivs, "proc.no_new_privs", "setuid and file capabilities have no effect"},
    GuaranteeInfo{Guarantee::kProcCapsDropped, "proc.caps_dropped", "no capability is held, not even in a namespace"},
    GuaranteeInfo{Guarantee::kProcSeccomp, "proc.seccomp",
                  "only system calls that real tools need are let through, on one ABI"},
    GuaranteeInfo{Guarantee::kProcDiesWithParent, "proc.dies_with_parent", "the tree dies when its owner dies"},
    GuaranteeInfo{Guarantee::kLimitWall, "limit.wall", "the tree is gone by the deadline, whatever it does"},
    GuaranteeInfo{Guarantee::kLimitOutput, "limit.output", "captured output and our memory are bounded by the cap"},
    GuaranteeInfo{Guarantee::kLimitMemory, "limit.memory", "memory is bounded; going over it is reported"},
    GuaranteeInfo{Guarantee::kLimitPids, "limit.pids", "the number of processes and threads is bounded"},
    GuaranteeInfo{Guarantee::kLimitCpu, "limit.cpu", "processor time is bounded"},
    GuaranteeInfo{Guarantee::kLimitDisk, "limit.disk", "bytes written to scratch are bounded; reaching it is reported"},
    GuaranteeInfo{Guarantee::kFsGitProtected, "fs.git_protected",
                  "no hook, configuration or pointer that git would obey is left behind"},
    GuaranteeInfo{Guarantee::kNetUnixIsolated, "net.unix_isolated",
                  "no Unix socket can be reached by its path, not even in a shown directory"},
    GuaranteeInfo{Guarantee::kFsNoSetid, "fs.no_setid",
                  "no file can be given a set-id bit or capabilities, nor a device node be made"},
    GuaranteeInfo{Guarantee::kFsRepoUntouched, "fs.repo_untouched",
                  "the host's repo is not written; what a workspace's runs write stays beside it"},
    GuaranteeInfo{Guarantee::kKernelSeparate, "kernel.separate",
                  "the tool's system calls are answered by another kernel than the host's"},
});

[[nodiscard]] constexpr std::string_view name_of(Guarantee guarantee) {
  return kGuarantees[static_cast<std::size_t>(guarantee)].name;
}

[[nodiscard]] constexpr std::optional<Guarantee> guarantee_named(std::string_view name) {
  for (const GuaranteeInfo& info : kGuarantees) {
    if (info.name == name) return info.guarantee;
  }
  return std::nullopt;
}

}  // namespace sallyport
