// Parts of the kernel a tool has no business with, by every door the processor has.
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

void io_uring() { broken_if_looked_at(syscall(SYS_io_uring_setup, 1, nullptr)); }

void user_fault_fd() {
  constexpr long kUserModeOnly = 1;
  broken_if_looked_at(syscall(SYS_userfaultfd, kUserModeOnly));
}

void bpf_map() {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  broken_if_looked_at(syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

// Each kernel generates one at boot, and shows it to every process.
void same_kernel() {
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  std::array<char, 36> id{};
  if (read(file, id.data(), id.size()) != static_cast<ssize_t>(id.size())) return;
  if (std::string_view(id.data(), id.size()) == arg("boot")) broken();
}

void perf_event() { broken_if_looked_at(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)); }

void key_control() { broken_if_looked_at(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0)); }

void key_add() {
  // In the process's own keyring, which ends with the process.
  broken_if_looked_at(syscall(SYS_add_key, "user", "sallyport-attack", "x", 1, KEY_SPEC_PROCESS_KEYRING));
}

void key_request() { broken_if_looked_at(syscall(SYS_request_key, "user", "sallyport-attack", nullptr, 0)); }

void kexec() { broken_if_looked_at(syscall(SYS_kexec_load, 0, 0, nullptr, ~0UL)); }

void ptrace_child() {
  in_child([] { broken_if_looked_at(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); });
}

#ifdef __x86_64__
long by_i386_door(long number, long first) {
  long result = number;
  asm volatile("int $0x80" : "+a"(result) : "b"(first) : "memory", "r8", "r9", "r10", "r11");
  return static_cast<int>(result);
}

void int80() {
  constexpr long kGetpid = 20;
  if (by_i386_door(kGetpid, 0) == getpid()) broken();
}

void int80_unshare() {
  constexpr long kUnshare = 310;
  if (by_i386_door(kUnshare, CLONE_NEWUSER) == 0) broken();
}

void x32() {
  constexpr long kX32 = 0x40000000;
  if (syscall(kX32 | SYS_getpid) == getpid()) broken();
}
#else
void int80() {}
void int80_unshare() {}
void x32() {}
#endif

// Only in a session of our own can the terminal become ours; a child can always have one.
template <unsigned long kRequest>
void type_into_terminal() {
  in_child([] {
    setsid();
    ioctl(STDIN_FILENO, TIOCSCTTY, 1);
    const char key = 'x';
    if (syscall(SYS_ioctl, STDIN_FILENO, kRequest, &key) == 0) broken();
  });
}

template <unsigned long kCommand>
void lease() {
  const int fd = open(arg("victim").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && syscall(SYS_fcntl, fd, kCommand, F_RDLCK) == 0) broken();
}

void open_socket(int family, int type, int protocol = 0) {
  if (socket(family, type, protocol) >= 0) broken();
}

void line_discipline() {
  const int plain = 0;  // N_TTY: what it has
  if (ioctl(STDIN_FILENO, TIOCSETD, &plain) == 0) broken();
}

void read_implies_exec() {
  in_child([] {
    if (personality(READ_IMPLIES_EXEC) >= 0 && (personality(0xffffffff) & READ_IMPLIES_EXEC) != 0) broken();
  });
}

void user_dispatch() {
  in_child([] {
    constexpr unsigned long kDispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH
    constexpr unsigned long kOff = 0;
    if (prctl(kDispatch, kOff, 0UL, 0UL, 0UL) == 0) broken();
  });
}

// Only if the processor has the control.
void speculate() {
  in_child([] {
    if (prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_ENABLE, 0UL, 0UL) == 0) broken();
  });
}

void legacy_aio() {
  unsigned long context = 0;
  broken_if_looked_at(syscall(SYS_io_setup, 1, &context));
}

constexpr long kMemfdSecret = 447;
constexpr long kMseal = 462;  // Linux 6.10: a call newer than the table
constexpr int kMptcp = 262;

void mptcp_with_high_bits() {
  constexpr unsigned long kOdd = 1UL << 32U;
  if (syscall(SYS_socket, kOdd | AF_INET6, kOdd | SOCK_STREAM, kOdd | kMptcp) >= 0) broken();
}

void kernel_log() {
  constexpr int kSizeBuffer = 10;
  if (klogctl(kSizeBuffer, nullptr, 0) >= 0) broken();
}

constexpr unsigned long kHighBits = 1UL << 32U;

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"io_uring", io_uring},
    Entry{"userfaultfd", user_fault_fd},
    Entry{"bpf", bpf_map},
    Entry{"perf_event_open", perf_event},
    Entry{"keyctl", key_control},
    Entry{"add_key", key_add},
    Entry{"request_key", key_request},
    Entry{"kexec_load", kexec},
    Entry{"ptrace_child", ptrace_child},
    Entry{"same_kernel", same_kernel},
    Entry{"int80", int80},
    Entry{"int80_unshare", int80_unshare},
    Entry{"x32", x32},
    Entry{"tiocsti", type_into_terminal<TIOCSTI>},
    Entry{"tiocsti_high_bits", type_into_terminal<TIOCSTI | kHighBits>},
    Entry{"lease", lease<F_SETLEASE>},
    Entry{"lease_high_bits", lease<F_SETLEASE | kHighBits>},
    Entry{"af_packet", [] { open_socket(AF_PACKET, SOCK_RAW); }},
    Entry{"af_vsock", [] { open_socket(AF_VSOCK, SOCK_STREAM); }},
    Entry{"af_alg", [] { open_socket(AF_ALG, SOCK_SEQPACKET); }},
    Entry{"syslog", kernel_log},
    Entry{"mptcp", [] { open_socket(AF_INET, SOCK_STREAM, kMptcp); }},
    Entry{"mptcp_v6_high_bits", mptcp_with_high_bits},
    Entry{"udplite", [] { open_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE); }},
    Entry{"sctp", [] { open_socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP); }},
    Entry{"icmp_datagram", [] { open_socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP); }},
    Entry{"memfd_secret", [] { broken_if_looked_at(syscall(kMemfdSecret, 0)); }},
    Entry{"new_call", [] { broken_if_looked_at(syscall(kMseal, 0, 0, 0)); }},
    Entry{"legacy_aio", legacy_aio},
    Entry{"line_discipline", line_discipline},
    Entry{"persona_read_implies_exec", read_implies_exec},
    Entry{"syscall_user_dispatch", user_dispatch},
    Entry{"speculation", speculate},
});

}  // namespace

std::span<const Entry> kernel_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
