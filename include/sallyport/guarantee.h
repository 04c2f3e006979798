// The only vocabulary for isolation. A guarantee has a stable name, an attack that succeeds without it
// (src/attack/program), and an entry in a run's Receipt if it was established. Its row also says which jails can give it: none,
// until the row names them. Add where needed; never reuse a name. A
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

// The jails of this library, as a set: who can give a guarantee on a host that lets them. Both microvm jails are kMicrovm.
enum class Givers : std::uint16_t {
  kNobody = 0,
  kNoJail = 1U << 0U,  // a run without a jail: what the gate does for every run
  kNative = 1U << 1U,
  kBwrap = 1U << 2U,
  kOci = 1U << 3U,
  kLandlock = 1U << 4U,
  kGvisor = 1U << 5U,
  kMicrovm = 1U << 6U,
  kContainer = 1U << 7U,
  kSandboxExec = 1U << 8U,
  kEveryJail = 0x1fe,
  kEveryRun = 0x1ff,
};

[[nodiscard]] constexpr Givers operator|(Givers left, Givers right) {
  return static_cast<Givers>(static_cast<std::uint16_t>(left) | static_cast<std::uint16_t>(right));
}
[[nodiscard]] constexpr Givers operator-(Givers all, Givers without) {
  return static_cast<Givers>(static_cast<std::uint16_t>(all) & ~static_cast<std::uint16_t>(without));
}

struct GuaranteeInfo {
  Guarantee guarantee;
  std::string_view name;     // as in --require, receipts and docs
  std::string_view promise;  // one line for people
  // Each other jail of this library never gives it: the gate refuses a call there that requires it, and leaves it out of a receipt.
  Givers givers = Givers::kNobody;
};

inline constexpr auto kGuarantees = std::to_array<GuaranteeInfo>({
    GuaranteeInfo{Guarantee::kExecAllowlisted, "exec.allowlisted", "only a tool of the closed, governed set is started",
                  Givers::kEveryRun},
    GuaranteeInfo{Guarantee::kExecPinned, "exec.pinned", "the file executed is the file that was checked",
                  Givers::kEveryRun - Givers::kGvisor - Givers::kMicrovm - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kEnvStripped, "env.stripped", "only PATH, HOME, LANG, LC_ALL and named extras are passed",
                  Givers::kEveryRun},
    GuaranteeInfo{Guarantee::kFsReadonlySystem, "fs.readonly_system", "system directories cannot be written",
                  Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kFsHomeHidden, "fs.home_hidden", "home directories, /root and /run are not there",
                  Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kFsPrivateTmp, "fs.private_tmp", "/tmp and /dev/shm are the run's own and vanish with it",
                  Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kFsWriteConfined, "fs.write_confined", "writes reach only what the caller made writable",
                  Givers::kEveryJail - Givers::kContainer},
    GuaranteeInfo{Guarantee::kNetIsolated, "net.isolated", "no network but a private loopback", Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kNetEgressAllowlist, "net.egress_allowlist", "only the named hosts can be reached",
                  Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kNetDnsClosed, "net.dns_closed", "no name is looked up outside the allowlist",
                  Givers::kEveryJail - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kProcPidIsolated, "proc.pid_isolated", "other processes can be neither seen nor signalled",
                  Givers::kEveryJail - Givers::kLandlock - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kProcNoNewPrivs, "proc.no_new_privs", "setuid and file capabilities have no effect",
                  Givers::kEveryRun - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kProcCapsDropped, "proc.caps_dropped", "no capability is held, not even in a namespace",
                  Givers::kEveryJail - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kProcSeccomp, "proc.seccomp",
                  "only system calls that real tools need are let through, on one ABI",
                  Givers::kEveryJail - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kProcDiesWithParent, "proc.dies_with_parent", "the tree dies when its owner dies",
                  Givers::kEveryRun - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kLimitWall, "limit.wall", "the tree is gone by the deadline, whatever it does",
                  Givers::kEveryRun - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kLimitOutput, "limit.output", "captured output and our memory are bounded by the cap",
                  Givers::kEveryRun},
    GuaranteeInfo{Guarantee::kLimitMemory, "limit.memory", "memory is bounded; going over it is reported",
                  Givers::kEveryRun - Givers::kGvisor - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kLimitPids, "limit.pids", "the number of processes and threads is bounded",
                  Givers::kEveryRun - Givers::kGvisor - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kLimitCpu, "limit.cpu", "processor time is bounded",
                  Givers::kEveryRun - Givers::kGvisor - Givers::kMicrovm},
    GuaranteeInfo{Guarantee::kLimitDisk, "limit.disk", "bytes written to scratch are bounded; reaching it is reported",
                  Givers::kEveryJail - Givers::kLandlock - Givers::kGvisor - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kFsGitProtected, "fs.git_protected",
                  "no hook, configuration or pointer that git would obey is left behind", Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kNetUnixIsolated, "net.unix_isolated",
                  "no Unix socket can be reached by its path, not even in a shown directory", Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kFsNoSetid, "fs.no_setid",
                  "no file can be given a set-id bit or capabilities, nor a device node be made",
                  Givers::kEveryJail - Givers::kSandboxExec},
    GuaranteeInfo{Guarantee::kFsRepoUntouched, "fs.repo_untouched",
                  "the host's repo is not written; what a workspace's runs write stays beside it", Givers::kEveryJail},
    GuaranteeInfo{Guarantee::kKernelSeparate, "kernel.separate",
                  "the tool's system calls are answered by another kernel than the host's",
                  Givers::kGvisor | Givers::kMicrovm},
});

[[nodiscard]] constexpr std::string_view name_of(Guarantee guarantee) {
  return kGuarantees[static_cast<std::size_t>(guarantee)].name;
}

// `jail`: one of them.
[[nodiscard]] constexpr bool can_give(Givers jail, Guarantee guarantee) {
  return (kGuarantees[static_cast<std::size_t>(guarantee)].givers - jail) !=
         kGuarantees[static_cast<std::size_t>(guarantee)].givers;
}

[[nodiscard]] constexpr std::optional<Guarantee> guarantee_named(std::string_view name) {
  for (const GuaranteeInfo& info : kGuarantees) {
    if (info.name == name) return info.guarantee;
  }
  return std::nullopt;
}

}  // namespace sallyport
