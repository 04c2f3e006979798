// Against the process that holds the jail together: process 1 in it. Without a jail the accomplice takes its place, and
// each call sets the value that was there before.
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr pid_t kInit = 1;

bool succeeds(long result) { return result == 0; }

bool limit(pid_t process) {
  rlimit64 old{};
  return succeeds(prlimit64(process, RLIMIT_CPU, nullptr, &old)) &&
         succeeds(prlimit64(process, RLIMIT_CPU, &old, nullptr));
}

bool limit_with_high_bits(pid_t process) {
  rlimit64 old{};
  const unsigned long odd = (1UL << 32U) | static_cast<unsigned>(process);
  return succeeds(syscall(SYS_prlimit64, odd, RLIMIT_CPU, nullptr, &old)) &&
         succeeds(syscall(SYS_prlimit64, odd, RLIMIT_CPU, &old, nullptr));
}

bool affinity(pid_t process) {
  cpu_set_t processors;
  return sched_getaffinity(process, sizeof processors, &processors) == 0 &&
         sched_setaffinity(process, sizeof processors, &processors) == 0;
}

bool scheduler(pid_t process) {
  const sched_param parameters{};
  return sched_getscheduler(process) == SCHED_OTHER && sched_setscheduler(process, SCHED_OTHER, &parameters) == 0;
}

bool scheduler_attributes(pid_t process) {
  char attributes[64] = {};  // struct sched_attr
  return succeeds(syscall(SYS_sched_getattr, process, attributes, sizeof attributes, 0)) &&
         succeeds(syscall(SYS_sched_setattr, process, attributes, 0));
}

bool priority(pid_t process) {
  errno = 0;
  const int old = getpriority(PRIO_PROCESS, static_cast<id_t>(process));
  return errno == 0 && setpriority(PRIO_PROCESS, static_cast<id_t>(process), old) == 0;
}

bool io_priority(pid_t process) {
  const long old = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, process);
  return old >= 0 && succeeds(syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, process, old));
}

template <bool (*kChange)(pid_t)>
void change() {
  if (kChange(arg_number("pid")) || (geteuid() != 0 && kChange(kInit))) broken();
}

// All processes of one user, init among them.
void priority_of_user() {
  in_child([] {
    errno = 0;
    if (geteuid() == 0) return;  // it would be the host's
    const int old = getpriority(PRIO_USER, 0);
    if (errno == 0 && setpriority(PRIO_USER, 0, old) == 0) broken();
  });
}

std::string status_of_init() {
  const int fd = open("/proc/1/status", O_RDONLY | O_CLOEXEC);
  std::string text(8192, '\0');
  const ssize_t size = read(fd, text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

// The value of a line of /proc/1/status.
std::string field(std::string_view name) {
  const std::string text = "\n" + status_of_init();
  const std::size_t at = text.find("\n" + std::string(name) + ":\t");
  if (at == std::string::npos) return {};
  const std::size_t from = at + name.size() + 3;
  return text.substr(from, text.find('\n', from) - from);
}

void capabilities() {
  for (const std::string_view name : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    if (strtoull(field(name).c_str(), nullptr, 16) != 0) broken();
  }
}

void unfiltered() {
  const std::string privileges = field("NoNewPrivs");  // gVisor's kernel does not show it
  const bool may_gain = !privileges.empty() && privileges != "1";
  if (!status_of_init().empty() && (field("Seccomp") != "2" || may_gain)) broken();
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"init_cpu_limit", change<limit>},
    Entry{"init_cpu_limit_high_bits", change<limit_with_high_bits>},
    Entry{"init_affinity", change<affinity>},
    Entry{"init_scheduler", change<scheduler>},
    Entry{"init_scheduler_attributes", change<scheduler_attributes>},
    Entry{"init_priority", change<priority>},
    Entry{"init_io_priority", change<io_priority>},
    Entry{"init_priority_by_user", priority_of_user},
    Entry{"init_capabilities", capabilities},
    Entry{"init_unfiltered", unfiltered},
});

}  // namespace

std::span<const Entry> init_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
