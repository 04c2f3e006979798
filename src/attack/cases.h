// Every attack there is, by family, after the collection of advisories the project started from (docs/attacks.md).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "attack/case.h"

namespace sallyport::attack {

namespace detail {
using enum Guarantee;
using enum Effect;
using enum Prop;

inline constexpr auto kCases = std::to_array<Case>({
    // Files
    Case{"symlink_read_home", kFsHomeHidden, kTellsCanary, kWritableRepo,
         "read the home directory through a symlink made in the repo"},
    Case{"symlink_read_tmp", kFsPrivateTmp, kTellsCanary, kWritableRepo,
         "read the host's /tmp through a symlink made in the repo"},
    Case{"symlink_write_out", kFsWriteConfined, kVictimChanged, kWritableRepo,
         "write outside through a symlink made in the repo"},
    Case{"read_home", kFsHomeHidden, kTellsCanary, kNothing, "read a file in the caller's home directory"},
    Case{"read_root_home", kFsHomeHidden, kTellsCanary, kNeedsRoot, "list /root"},
    Case{"read_homes", kFsHomeHidden, kTellsCanary, kNothing, "list /home"},
    Case{"read_run", kFsHomeHidden, kTellsCanary, kNothing, "list /run"},
    Case{"read_var_run", kFsHomeHidden, kTellsCanary, kNothing, "list /var/run"},
    Case{"read_shadow", kFsHomeHidden, kTellsCanary, kNeedsRoot, "read /etc/shadow"},
    Case{"read_host_tmp", kFsPrivateTmp, kTellsCanary, kNothing, "read a file in the host's /tmp"},
    Case{"read_host_shm", kFsPrivateTmp, kTellsCanary, kNothing, "read a file in the host's /dev/shm"},
    Case{"write_host_tmp", kFsPrivateTmp, kFileAppears, kNothing, "leave a file in the host's /tmp"},
    Case{"write_host_shm", kFsPrivateTmp, kFileAppears, kNothing, "leave a file in the host's /dev/shm"},
    Case{"write_usr", kFsReadonlySystem, kFileAppears, kNeedsRoot, "leave a file in /usr"},
    Case{"write_bin", kFsReadonlySystem, kFileAppears, kNeedsRoot, "leave a file in /usr/bin"},
    Case{"write_etc", kFsReadonlySystem, kFileAppears, kNeedsRoot, "leave a file in /etc"},
    Case{"write_outside", kFsWriteConfined, kVictimChanged, kNothing, "overwrite a file beside the repo"},
    Case{"write_readonly_repo", kFsWriteConfined, kFileAppears, kNothing,
         "leave a file in a repo that is not writable"},
    Case{"chmod_readonly_repo", kFsWriteConfined, kVictimChanged, kOpenCorner,
         "change the mode and time of a file in a read-only repo"},
    Case{"hardlink_protected", kFsWriteConfined, kVictimChanged, kOpenCorner,
         "hard link a protected file into a writable place and write to it"},
    Case{"rename_protected", kFsWriteConfined, kVictimChanged, kOpenCorner,
         "rename a file of one's own over a protected one"},
    Case{"rename_ancestor", kFsWriteConfined, kVictimChanged, kClosedCorner,
         "rename the parent of a protected file away and put another in its place"},
    Case{"write_by_alias", kFsWriteConfined, kVictimChanged, kClosedCorner,
         "overwrite a protected file by its other name below /work"},
    Case{"protected_below_rw", kFsWriteConfined, kVictimChanged, kOpenCorner | kClosedCorner,
         "overwrite a file protected inside a path made writable"},
    Case{"inherited_fd", kFsPrivateTmp, kTellsCanary, kNothing, "read a file the caller happened to have open"},
    Case{"inherited_directory", kFsWriteConfined, kVictimChanged, kNothing,
         "climb out through a directory the caller happened to have open"},
    Case{"cwd_dot_dot", kFsPrivateTmp, kTellsCanary, kNothing, "walk up from the working directory"},
    Case{"own_exe_overwritten", kFsWriteConfined, kVictimChanged, kNothing,
         "overwrite the launched program through /proc/self/exe (CVE-2019-5736)"},
    Case{"proc_sys_write", kFsReadonlySystem, kTellsBroken, kNeedsRoot,
         "open a kernel setting in /proc/sys for writing"},
    Case{"proc_sysrq", kFsReadonlySystem, kTellsBroken, kNeedsRoot, "open /proc/sysrq-trigger for writing"},
    Case{"proc_kcore", kFsReadonlySystem, kTellsBroken, kNeedsRoot, "open the kernel's memory, /proc/kcore"},
    Case{"cgroup_write", kFsReadonlySystem, kTellsBroken, kNeedsRoot, "open a cgroup.procs for writing"},
    Case{"core_file", kFsWriteConfined, kFileAppears, kWritableRepo, "make the kernel write a core file"},
    // Mounts and namespaces
    Case{"mount_tmpfs", kProcSeccomp, kTellsBroken, kNothing, "mount a file system"},
    Case{"mount_bind", kProcSeccomp, kTellsBroken, kNothing, "bind one directory over another"},
    Case{"mount_remount", kFsReadonlySystem, kTellsBroken, kNothing, "remount the system writable"},
    Case{"umount", kProcSeccomp, kTellsBroken, kNothing, "unmount what hides the host"},
    Case{"fsopen", kProcSeccomp, kTellsBroken, kNothing, "mount with the new mount API: fsopen"},
    Case{"open_tree", kProcSeccomp, kTellsBroken, kNothing, "mount with the new mount API: open_tree"},
    Case{"move_mount", kProcSeccomp, kTellsBroken, kNothing, "mount with the new mount API: move_mount"},
    Case{"mount_setattr", kProcSeccomp, kTellsBroken, kNothing, "mount with the new mount API: mount_setattr"},
    Case{"pivot_root", kProcSeccomp, kTellsBroken, kNothing, "change the root with pivot_root"},
    Case{"chroot_escape", kProcCapsDropped, kTellsBroken, kNothing, "chroot, the first step of the classic escape"},
    Case{"unshare_user", kProcSeccomp, kTellsBroken, kNothing, "make a user namespace with unshare"},
    Case{"clone_newuser", kProcSeccomp, kTellsBroken, kNothing, "make a user namespace with clone"},
    Case{"clone3_newuser", kProcSeccomp, kTellsBroken, kNothing, "make a user namespace with clone3"},
    Case{"setns", kProcSeccomp, kTellsBroken, kNothing, "enter a namespace"},
    Case{"mknod_device", kProcCapsDropped, kTellsBroken, kWritableRepo | kNeedsRoot, "make a device node and open it"},
    Case{"device_in_repo", kFsWriteConfined, kTellsBroken, kDeviceNode | kNeedsRoot,
         "open a device node that lies in the repo (nodev)"},
    Case{"open_by_handle", kProcSeccomp, kTellsBroken, kNeedsRoot, "open a file by its handle, around every mount"},
    // Kernel
    Case{"io_uring", kProcSeccomp, kTellsBroken, kNothing, "set up io_uring, whose calls no filter sees"},
    Case{"userfaultfd", kProcSeccomp, kTellsBroken, kNothing, "get a userfaultfd"},
    Case{"bpf", kProcSeccomp, kTellsBroken, kNeedsRoot, "make a bpf map"},
    Case{"perf_event_open", kProcSeccomp, kTellsBroken, kNothing, "open a performance counter"},
    Case{"keyctl", kProcSeccomp, kTellsBroken, kNothing, "look at the kernel's key rings"},
    Case{"add_key", kProcSeccomp, kTellsBroken, kNothing, "put a key into the kernel's key rings"},
    Case{"request_key", kProcSeccomp, kTellsBroken, kNothing, "have the kernel call out for a key"},
    Case{"kexec_load", kProcSeccomp, kTellsBroken, kNeedsRoot, "load another kernel"},
    Case{"ptrace_child", kProcSeccomp, kTellsBroken, kNothing, "trace a process of one's own"},
    Case{"int80", kProcSeccomp, kTellsBroken, kNothing, "call the kernel by its i386 door"},
    Case{"int80_unshare", kProcSeccomp, kTellsBroken, kNothing, "unshare by the i386 door"},
    Case{"x32", kProcSeccomp, kTellsBroken, kNothing, "call the kernel by its x32 door"},
    Case{"tiocsti", kProcSeccomp, kTellsBroken, kTerminal, "type into the caller's terminal"},
    Case{"tiocsti_high_bits", kProcSeccomp, kTellsBroken, kTerminal,
         "type into the caller's terminal, request with high bits set (CVE-2019-7303)"},
    Case{"lease", kProcSeccomp, kTellsBroken, kOpenCorner,
         "take a lease on a file of the repo, so that the host waits to open it"},
    Case{"lease_high_bits", kProcSeccomp, kTellsBroken, kOpenCorner,
         "take a lease on a file of the repo, command with high bits set"},
    Case{"af_packet", kProcSeccomp, kTellsBroken, kNeedsRoot, "open a packet socket"},
    Case{"af_vsock", kProcSeccomp, kTellsBroken, kNothing, "open a vsock, which knows no network namespace"},
    Case{"af_alg", kProcSeccomp, kTellsBroken, kNothing, "open a kernel crypto socket"},
    Case{"syslog", kProcSeccomp, kTellsBroken, kNeedsRoot, "read the kernel's log"},
    // Privilege
    Case{"setuid_program", kProcNoNewPrivs, kTellsBroken, kSetuidCopy | kNeedsRoot,
         "become another user by a setuid program"},
    Case{"file_capabilities", kProcNoNewPrivs, kTellsBroken, kSetuidCopy | kNeedsRoot,
         "gain capabilities by a program that carries them"},
    Case{"hold_capabilities", kProcCapsDropped, kTellsBroken, kNeedsRoot, "hold any capability at all"},
    Case{"raise_priority", kProcCapsDropped, kTellsBroken, kNeedsRoot, "raise one's own priority"},
    Case{"raw_socket", kProcCapsDropped, kTellsBroken, kNothing, "open a raw ICMP socket"},
    Case{"route_add", kProcCapsDropped, kTellsBroken, kNothing, "add a network route"},
    // Processes
    Case{"see_outside", kProcPidIsolated, kTellsCanary, kAccomplice, "find a process outside by its command line"},
    Case{"kill_outside", kProcPidIsolated, kKilled, kAccomplice, "kill a process outside"},
    Case{"ptrace_outside", kProcPidIsolated, kTellsBroken, kAccomplice, "attach to a process outside"},
    Case{"memory_of_outside", kProcPidIsolated, kTellsCanary, kAccomplice,
         "read a secret from another process's memory"},
    Case{"fd_of_outside", kProcPidIsolated, kTellsCanary, kAccomplice, "take a descriptor from another process"},
    Case{"root_of_outside", kProcPidIsolated, kTellsCanary, kAccomplice,
         "read the host through /proc/PID/root of a process outside"},
    Case{"orphan", kProcDiesWithParent, kSurvives, kOwnerDies, "live on when the owner of the run is killed"},
    Case{"double_fork", kLimitWall, kSurvives, kNothing, "leave a double-forked daemon in a session of its own"},
    Case{"ignored_sigterm", kLimitWall, kSurvives, kNothing, "ignore SIGTERM and sleep past the deadline"},
    Case{"stopped_child", kLimitWall, kSurvives, kNothing, "leave a stopped child"},
    Case{"pipe_holder", kLimitWall, kSurvives, kNothing, "leave a grandchild that holds the output open"},
    // Network
    Case{"tcp_loopback", kNetIsolated, kHeard, kNothing, "connect to a service on the host's loopback"},
    Case{"tcp_loopback_v6", kNetIsolated, kHeard, kNothing, "connect to it over ::ffff:127.0.0.1"},
    Case{"udp_loopback", kNetIsolated, kHeard, kNothing, "send a datagram to the host's loopback"},
    Case{"abstract_socket", kNetIsolated, kHeard, kNothing, "connect to an abstract unix socket of the host"},
    Case{"inherited_socket", kNetIsolated, kHeard, kNothing, "speak over a socket the caller happened to have open"},
    Case{"see_interfaces", kNetIsolated, kTellsCanary, kNothing, "see the host's network interfaces"},
    Case{"dns_query", kNetDnsClosed, kHeard, kNothing, "ask the host's resolver, the name as payload"},
    Case{"dns_over_tcp", kNetDnsClosed, kHeard, kNothing, "ask the host's resolver over TCP"},
    // Egress: one host may be reached, and nothing else
    Case{"egress_by_address", kNetEgressAllowlist, kHeard, kEgress, "connect to an address that no lookup gave"},
    Case{"egress_by_mapped_address", kNetEgressAllowlist, kHeard, kEgress, "connect to it as ::ffff:127.0.0.1"},
    Case{"egress_by_odd_address", kNetEgressAllowlist, kHeard, kEgress,
         "connect to it spelled 2130706433, 0x7f000001, 0177.0.0.1 and 127.1"},
    Case{"egress_allowed_port", kNetEgressAllowlist, kHeard, kEgress, "connect to another host by an allowed port"},
    Case{"egress_by_name", kNetEgressAllowlist, kHeard, kEgress, "look up a host that is not allowed, and connect"},
    Case{"egress_relay", kNetEgressAllowlist, kHeard, kEgress, "connect through a relay inside the jail"},
    Case{"egress_udp", kNetEgressAllowlist, kHeard, kEgress, "send a datagram (QUIC is made of these)"},
    Case{"egress_abstract_socket", kNetEgressAllowlist, kHeard, kEgress,
         "connect to an abstract unix socket of the host"},
    Case{"egress_inherited_socket", kNetEgressAllowlist, kHeard, kEgress,
         "speak over a socket the caller happened to have open"},
    Case{"rebind_to_loopback", kNetEgressAllowlist, kHeard, kEgress,
         "connect to an allowed name that resolves to the host's loopback"},
    Case{"refusal_hangs", kNetEgressAllowlist, kTellsBroken, kEgress, "be kept waiting by a refused connection"},
    Case{"refused_udp_hangs", kNetEgressAllowlist, kTellsBroken, kEgress, "be kept waiting by a refused datagram"},
    Case{"egress_dns_udp", kNetDnsClosed, kHeard, kEgress, "ask another resolver, the name as payload"},
    Case{"egress_dns_tcp", kNetDnsClosed, kHeard, kEgress, "ask another resolver over TCP"},
    Case{"egress_doh", kNetDnsClosed, kHeard, kEgress, "ask a resolver over HTTP at an address known by heart"},
    Case{"egress_raw_socket", kProcCapsDropped, kTellsBroken, kEgress, "open a raw ICMP socket"},
    Case{"egress_packet_socket", kProcSeccomp, kTellsBroken, kEgress, "open a packet socket"},
    Case{"egress_vsock", kProcSeccomp, kTellsBroken, kEgress, "open a vsock"},
    Case{"egress_route_edit", kProcCapsDropped, kTellsBroken, kEgress, "take away the route that leads to the gate"},
    Case{"egress_nft_edit", kProcCapsDropped, kTellsBroken, kEgress, "take away the rules that lead to the gate"},
    // Egress: what is said to the allowed host
    Case{"http_other_host", kNetEgressAllowlist, kSmuggled, kEgress, "ask the allowed host for another (fronting)"},
    Case{"http_absolute_form", kNetEgressAllowlist, kSmuggled, kEgress, "the same by a request in absolute form"},
    Case{"http_kept_alive", kNetEgressAllowlist, kSmuggled, kEgress,
         "the same by the second request on a connection kept alive"},
    Case{"http_pipelined", kNetEgressAllowlist, kSmuggled, kEgress, "the same by a second request sent with the first"},
    Case{"http_two_hosts", kNetEgressAllowlist, kSmuggled, kEgress, "the same by a second Host header"},
    Case{"http_folded_host", kNetEgressAllowlist, kSmuggled, kEgress, "the same by a Host header over two lines"},
    Case{"http_hidden_request", kNetEgressAllowlist, kSmuggled, kEgress,
         "the same by a request hidden in a body of two lengths"},
    Case{"http_userinfo", kNetEgressAllowlist, kSmuggled, kEgress, "the same by allowed.test@another"},
    Case{"http_nul_in_host", kNetEgressAllowlist, kSmuggled, kEgress, "the same by a NUL behind the allowed name"},
    Case{"http_unicode_dot", kNetEgressAllowlist, kSmuggled, kEgress, "the same by a dot that is none"},
    Case{"http_connect", kNetEgressAllowlist, kSmuggled, kEgress, "use the allowed host as a proxy: CONNECT"},
    Case{"http_upgrade", kNetEgressAllowlist, kSmuggled, kEgress, "leave HTTP by an upgrade, then say anything"},
    Case{"http2_preface", kNetEgressAllowlist, kSmuggled, kEgress, "speak HTTP/2, whose heads are not read, at once"},
    Case{"http_endless_head", kNetEgressAllowlist, kSmuggled, kEgress, "send a request's head without end"},
    Case{"raw_on_http_port", kNetEgressAllowlist, kSmuggled, kEgress, "say something that is no HTTP on port 80"},
    Case{"raw_on_tls_port", kNetEgressAllowlist, kSmuggled, kEgress, "say something that is no TLS on port 443"},
    Case{"tls_other_name", kNetEgressAllowlist, kSmuggled, kEgress, "greet the allowed host with another's name"},
    Case{"tls_no_name", kNetEgressAllowlist, kSmuggled, kEgress, "greet it without a name"},
    Case{"tls_split_hello", kNetEgressAllowlist, kSmuggled, kEgress,
         "another's name in a hello of many small records, sent one by one"},
    Case{"tls_late_name", kNetEgressAllowlist, kSmuggled, kEgress, "another's name behind kilobytes of padding"},
    Case{"tls_two_names", kNetEgressAllowlist, kSmuggled, kEgress, "two names in one hello"},
    Case{"tls_nul_in_name", kNetEgressAllowlist, kSmuggled, kEgress, "a NUL behind the allowed name"},
    Case{"tls_ech", kNetEgressAllowlist, kSmuggled, kEgress, "another's name in an encrypted client hello"},
    Case{"tls_early_data", kNetEgressAllowlist, kSmuggled, kEgress, "data sent before the handshake"},
    Case{"tls_second_hello", kNetEgressAllowlist, kSmuggled, kEgress, "another's name in the second hello"},
    // Delegated authority
    Case{"docker_socket", kFsHomeHidden, kHeard, kNothing, "ask a docker-like daemon by its socket in a hidden place"},
    Case{"ssh_agent", kFsPrivateTmp, kHeard, kNothing, "ask an ssh-agent by its socket in the host's /tmp"},
    Case{"session_bus", kNetIsolated, kHeard, kNothing, "ask a session bus by its abstract socket"},
    // Two jails
    Case{"jails_by_abstract", kNetIsolated, kTellsCanary, kPartner, "talk to another jail through an abstract socket"},
    Case{"jails_by_tmp", kFsPrivateTmp, kTellsCanary, kPartner, "talk to another jail through /tmp"},
    Case{"jails_by_shm", kFsPrivateTmp, kTellsCanary, kPartner, "talk to another jail through /dev/shm"},
    Case{"jails_by_sysv_shm", kProcPidIsolated, kTellsCanary, kPartner,
         "talk to another jail through System V shared memory"},
    Case{"jails_by_sysv_msg", kProcPidIsolated, kTellsCanary, kPartner,
         "talk to another jail through a System V message queue"},
    // Environment
    Case{"env_secrets", kEnvStripped, kTellsCanary, kNothing, "read the caller's tokens from the environment"},
    Case{"env_of_parents", kEnvStripped, kTellsCanary, kAccomplice,
         "read the caller's tokens from other processes' environment"},
    Case{"ld_preload", kEnvStripped, kTellsBroken, kPreload, "have the caller pass LD_PRELOAD"},
    // Limits
    Case{"fork_bomb", kLimitPids, kTellsBroken, kNothing, "start more processes than allowed"},
    Case{"thread_bomb", kLimitPids, kTellsBroken, kNothing, "start more threads than allowed"},
    Case{"memory_anon", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed"},
    Case{"memory_tmpfs", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed, as files in /tmp"},
    Case{"memory_memfd", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed, as a memfd"},
    Case{"memory_children", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed, spread over children"},
    Case{"disk_tmp", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to /tmp"},
    Case{"disk_shm", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to /dev/shm"},
    Case{"disk_unlinked", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to a file already deleted"},
    Case{"disk_files", kLimitDisk, kTellsBroken, kNothing, "make more empty files than the kernel should remember"},
    Case{"cpu_burn", kLimitCpu, kTellsBroken, kNothing, "use more processor time than allowed"},
    Case{"cpu_children", kLimitCpu, kTellsBroken, kNothing,
         "use more processor time than allowed, split over children"},
    Case{"output_flood", kLimitOutput, kFloods, kNothing, "print more than is kept"},
    Case{"output_one_line", kLimitOutput, kFloods, kNothing, "print one endless line on stderr"},
    // Verdicts
    Case{"forge_exit_137", kLimitMemory, kForgesVerdict, kNothing, "look like an out-of-memory kill by exit code 137"},
    Case{"forge_sigkill", kLimitMemory, kForgesVerdict, kNothing,
         "look like an out-of-memory kill by SIGKILL to oneself"},
    Case{"forge_exit_124", kLimitWall, kForgesVerdict, kNothing, "look like a timeout by exit code 124"},
    Case{"forge_text", kLimitWall, kForgesVerdict, kNothing, "print that the sandbox denied and killed it"},
    // Who is executed
    Case{"planted_in_repo", kExecPinned, kTellsBroken, kImpostor, "be the program of that name in the repo"},
    Case{"planted_in_tmp", kExecPinned, kTellsBroken, kImpostor,
         "be the program of that name in a world-writable directory"},
    Case{"swapped_binary", kExecPinned, kTellsBroken, kPinnedTool, "be another file than the one the policy pinned"},
    Case{"unlisted_tool", kExecAllowlisted, kTellsBroken, kDefaultSet, "be a tool outside the closed set"},
    Case{"path_as_tool", kExecAllowlisted, kTellsBroken, kImpostor, "be asked for by path instead of by name"},
});
}  // namespace detail

inline constexpr auto& kCases = detail::kCases;

consteval bool every_guarantee_has_an_attack() {
  return std::ranges::all_of(kGuarantees, [](const GuaranteeInfo& info) {
    const auto guards = [&](const auto& entry) { return entry.guarantee == info.guarantee; };
    return std::ranges::any_of(kCases, guards);
  });
}
static_assert(every_guarantee_has_an_attack(), "a guarantee needs an attack that breaks it when it is absent");
static_assert(kCases.size() >= 60);

[[nodiscard]] constexpr const Case* find_case(std::string_view name) {
  const auto found = std::ranges::find(kCases, name, &Case::name);
  return found == kCases.end() ? nullptr : &*found;
}

}  // namespace sallyport::attack
