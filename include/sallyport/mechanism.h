// The means by which a guarantee holds. name_of() gives the receipt's text (docs/json.md). Nothing here fails. The
// rule: docs/contract.md, C26.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sallyport {

enum class Mechanism : std::uint8_t {
  kGate,
  kDescriptor,
  kIdentity,
  kMounts,
  kMountsAndLandlock,
  kMountsAndReview,
  kMountNamespace,
  kNetworkNamespace,
  kNetworkNamespaceAndNftables,
  kNetworkNamespaceUnnamed,  // connections to other ports are refused, but their host is unknown
  kPidNamespace,
  kPrctl,
  kCapset,
  kSeccomp,
  kSeccompWithTracing,  // for a tracer's own run (ADR 0046)
  kSubreaper,
  kSupervisor,
  kTmpfs,
  kCgroupV1,
  kCgroupV2,
  kRlimit,
  kRlimitPerProcess,
  kWatch,           // we measure from time to time, and end the run: it may have used more for a moment
  kCgroupOrRlimit,  // for explain, which tries neither
  kCgroupOrRlimitPerProcess,
  kOverlay,
  kReflinkCopy,
  kCopy,
  kCgroupOrWatch,
  kLandlockAndSeccomp,
  kLandlockNamesShow,        // a hidden file can be neither read nor listed, but a tool that knows its name can stat it
  kPrivateDirectory,         // the tool cannot enter /tmp; TMPDIR leads to a directory of the run
  kSeccompAndOwner,          // seccomp passes each connecting call to us, and we connect it to our own end
  kSandboxProfile,           // macOS's own, applied by sandbox-exec
  kSandboxPrivateDirectory,  // the profile closes /tmp; TMPDIR leads to a directory of the run
  kSandboxProfileAndProxy,   // the profile allows only our proxy on loopback
  kKvm,                      // a virtual machine run by the host's processor
  kEmulation,                // a virtual machine whose processor is a program
  kGuestKernel,              // a kernel that is a program: gVisor
  kGuestCgroup,              // a cgroup of the guest's own kernel
  kImageDigest,              // the file belongs to an image that was named by its digest
  kEngineCgroup,             // of a container engine; our init inside has compared it with the request
  kClientsStream,            // the process that started the tool dies when its stream from us ends or is silent
  // Our init inside accepts the tool's connections on the jail's loopback, and the owner connects; there is no other
  // way out.
  kConnectionsCarried,
  kJailsOwn,  // of an embedding program's jail: ask its author
};

struct MechanismInfo {
  Mechanism mechanism;
  std::string_view name;
};

// In the enum's order: name_of relies on it.
inline constexpr auto kMechanisms = std::to_array<MechanismInfo>({
    {Mechanism::kGate, "gate"},
    {Mechanism::kDescriptor, "descriptor"},
    {Mechanism::kIdentity, "identity"},
    {Mechanism::kMounts, "mounts"},
    {Mechanism::kMountsAndLandlock, "mounts+landlock"},
    {Mechanism::kMountsAndReview, "mounts and a review after the run"},
    {Mechanism::kMountNamespace, "mount namespace"},
    {Mechanism::kNetworkNamespace, "network namespace"},
    {Mechanism::kNetworkNamespaceAndNftables, "network namespace+nftables"},
    {Mechanism::kNetworkNamespaceUnnamed, "network namespace, other ports refused unnamed"},
    {Mechanism::kPidNamespace, "pid namespace"},
    {Mechanism::kPrctl, "prctl"},
    {Mechanism::kCapset, "capset"},
    {Mechanism::kSeccomp, "seccomp"},
    {Mechanism::kSeccompWithTracing, "seccomp, ptrace for strace"},
    {Mechanism::kSubreaper, "subreaper"},
    {Mechanism::kSupervisor, "supervisor"},
    {Mechanism::kTmpfs, "tmpfs"},
    {Mechanism::kCgroupV1, "cgroup.v1"},
    {Mechanism::kCgroupV2, "cgroup.v2"},
    {Mechanism::kRlimit, "rlimit"},
    {Mechanism::kRlimitPerProcess, "rlimit per process"},
    {Mechanism::kWatch, "watch"},
    {Mechanism::kCgroupOrRlimit, "cgroup, else rlimit"},
    {Mechanism::kCgroupOrRlimitPerProcess, "cgroup, else rlimit per process"},
    {Mechanism::kOverlay, "overlayfs"},
    {Mechanism::kReflinkCopy, "private copy (reflink)"},
    {Mechanism::kCopy, "private copy"},
    {Mechanism::kCgroupOrWatch, "cgroup, else watch"},
    {Mechanism::kLandlockAndSeccomp, "landlock+seccomp"},
    {Mechanism::kLandlockNamesShow, "landlock, known names can be probed"},
    {Mechanism::kPrivateDirectory, "landlock, a private directory instead"},
    {Mechanism::kSeccompAndOwner, "seccomp, connected by the owner"},
    {Mechanism::kSandboxProfile, "sandbox profile"},
    {Mechanism::kSandboxPrivateDirectory, "sandbox profile, a private directory instead"},
    {Mechanism::kSandboxProfileAndProxy, "sandbox profile, proxy"},
    {Mechanism::kKvm, "kvm"},
    {Mechanism::kEmulation, "emulated processor"},
    {Mechanism::kGuestKernel, "kernel in user space"},
    {Mechanism::kGuestCgroup, "cgroup of the guest"},
    {Mechanism::kImageDigest, "image digest"},
    {Mechanism::kEngineCgroup, "cgroup of the engine"},
    {Mechanism::kClientsStream, "end of the client's stream"},
    {Mechanism::kConnectionsCarried, "network namespace, connections carried"},
    {Mechanism::kJailsOwn, "the jail's own"},
});

[[nodiscard]] constexpr std::string_view name_of(Mechanism mechanism) {
  return kMechanisms[static_cast<std::size_t>(mechanism)].name;
}

}  // namespace sallyport
