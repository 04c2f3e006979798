// Finds everything that descends from us. We are a subreaper, so a process cannot leave our tree by a double fork or
// setsid: an orphan becomes our child. /proc/PID/task/*/children is a kernel option that not every host has, so this
// reads every /proc/PID/stat.
#include <fcntl.h>
#include <linux/time_types.h>
#include <signal.h>

#include "spawn/freestanding/decimal.h"
#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {
namespace {

struct Process {
  int pid;
  int parent;
  std::uint64_t start_time;
  char state;
};

constexpr std::size_t kMaxProcesses = 32768;  // per sweep; the next sweep finds the rest
constexpr std::size_t kMaxPid = 4U << 20U;    // PID_MAX_LIMIT
Process processes[kMaxProcesses];
std::uint8_t below_us[kMaxPid / 8];

struct DirectoryEntry {  // struct linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

int parse_pid(const char* name) {
  int pid = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return -1;
    pid = pid * 10 + (*name - '0');
  }
  return pid;
}

std::uint64_t parse_number(const char*& at) {
  while (*at == ' ') ++at;
  std::uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  while (*at != ' ' && *at != '\0') ++at;
  return value;
}

// proc(5): "pid (comm) state ppid … starttime(22)"; comm may itself hold spaces and parentheses.
bool read_process(int pid, Process& out) {
  char path[32] = "/proc/";
  char* end = append_number(path + 6, static_cast<std::uint32_t>(pid));
  for (const char* suffix = "/stat"; *suffix != '\0';) *end++ = *suffix++;
  *end = '\0';
  const long fd = sys(__NR_openat, long{AT_FDCWD}, path, long{O_RDONLY | O_CLOEXEC}, 0L);
  if (fd < 0) return false;
  char text[512];
  const long size = sys(__NR_read, fd, text, long{sizeof text - 1});
  sys(__NR_close, fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* at = text + size;
  while (at > text && *at != ')') --at;
  if (at == text || at[1] != ' ') return false;
  out.pid = pid;
  out.state = at[2];
  at += 3;
  out.parent = static_cast<int>(parse_number(at));
  for (int field = 5; field < 22; ++field) parse_number(at);
  out.start_time = parse_number(at);
  return true;
}

std::size_t read_process_table() {
  const long proc = sys(__NR_openat, long{AT_FDCWD}, "/proc", long{O_RDONLY | O_DIRECTORY | O_CLOEXEC}, 0L);
  if (proc < 0) return 0;
  alignas(8) static char buffer[32768];
  std::size_t found = 0;
  long size = 0;
  while ((size = sys(__NR_getdents64, proc, buffer, long{sizeof buffer})) > 0) {
    for (long at = 0; at < size && found < kMaxProcesses;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      const int pid = parse_pid(entry->name);
      if (pid > 0 && read_process(pid, processes[found])) ++found;
      at += entry->size;
    }
  }
  sys(__NR_close, proc);
  return found;
}

bool is_below(int pid) { return pid > 0 && (below_us[pid / 8] >> (pid % 8) & 1) != 0; }
void mark_below(int pid) { below_us[pid / 8] = static_cast<std::uint8_t>(below_us[pid / 8] | 1 << (pid % 8)); }

void mark_descendants(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) below_us[processes[i].pid / 8] = 0;
  const int self = static_cast<int>(sys(__NR_getpid));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < count; ++i) {
      const Process& process = processes[i];
      if (is_below(process.pid) || (process.parent != self && !is_below(process.parent))) continue;
      mark_below(process.pid);
      changed = true;
    }
  }
}

// A pid found a moment ago may name another process by now: open its pidfd, check again, and only then signal through
// the pidfd.
void signal_exactly(const Process& seen, int signal_number) {
  const long pidfd = sys(__NR_pidfd_open, long{seen.pid}, 0L);
  if (pidfd < 0) return;
  Process now = {};
  if (read_process(seen.pid, now) && now.start_time == seen.start_time) {
    sys(__NR_pidfd_send_signal, pidfd, long{signal_number}, 0L, 0L);
  }
  sys(__NR_close, pidfd);
}

}  // namespace

void signal_descendants(int signal_number, Spare spare) {
  const std::size_t count = read_process_table();
  mark_descendants(count);
  const int self = static_cast<int>(sys(__NR_getpid));
  for (std::size_t i = 0; i < count; ++i) {
    const Process& process = processes[i];
    if (!is_below(process.pid) || process.state == 'Z') continue;
    if (spare == Spare::kChildren && process.parent == self) continue;
    signal_exactly(process, signal_number);
  }
}

void kill_descendants() {
  constexpr int kRoundsBeforeFreezing = 3;
  constexpr int kFreezeSweeps = 8;
  for (int round = 0;; ++round) {
    long pid = 0;
    while ((pid = sys(__NR_wait4, -1L, 0L, 1L /* WNOHANG */, 0L)) > 0) {
    }
    if (pid == -10) return;  // ECHILD: no child, and so no descendant, is left
    // A fork bomb outruns a killer that kills one process at a time; a stopped process cannot fork.
    if (round >= kRoundsBeforeFreezing) {
      for (int sweep = 0; sweep < kFreezeSweeps; ++sweep) signal_descendants(SIGSTOP);
    }
    signal_descendants(SIGKILL);
    const struct __kernel_timespec pause = {0, round < 10 ? 200'000 : 5'000'000};
    sys(__NR_nanosleep, &pause, 0L);
  }
}

}  // namespace sallyport::spawn::helper
