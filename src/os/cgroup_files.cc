#include "os/cgroup_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "core/errors.h"
#include "os/file.h"

namespace sallyport {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr ByteCount kControlCap = mebibytes(1);  // cgroup.procs of a full pids controller
constexpr auto kPatience = 5s;

bool is_missing(const Status& status) {
  if (status) return false;
  const auto* const system = status.error().as<SystemError>();
  return system != nullptr && system->error_number == ENOENT;
}

// The number after `key` in "key value" lines.
std::optional<std::uint64_t> keyed_number(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') continue;
    line.remove_prefix(key.size() + 1);
    std::uint64_t number = 0;
    const auto [rest, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (problem == std::errc{}) return number;
  }
  return std::nullopt;
}

Result<std::vector<pid_t>> processes_in(int directory) {
  const std::string text = TRY(read_control(directory, "cgroup.procs"));
  std::vector<pid_t> pids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto [rest, problem] = std::from_chars(at, end, pid);
    if (problem != std::errc{}) break;
    pids.push_back(pid);
    at = rest + 1;
  }
  return pids;
}

// Since we read the pid, its process may have ended and another process may have got the pid. A pidfd pins the process
// that has the pid now; we send the signal only if the group still lists that pid.
Status kill_member(int directory, pid_t pid) {
  // By number: glibc 2.36 declares the wrappers without extern "C".
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return {};
  for (const pid_t listed : TRY(processes_in(directory))) {
    if (listed != pid) continue;
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH) {
      return fail(system_error("kill", "a process in its control group", errno));
    }
  }
  return {};
}

}  // namespace

Status write_control(int directory, const std::string& file, std::string_view value) {
  UniqueFd fd = TRY(open_path_at(directory, file, O_WRONLY | O_NOFOLLOW));
  return write_all(fd.get(), value, file);
}

Result<std::string> read_control(int directory, const std::string& file) {
  UniqueFd fd = TRY(open_path_at(directory, file, O_RDONLY | O_NOFOLLOW));
  return read_all(fd.get(), kControlCap, file);
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = 0; (at = list.find(word, at)) != std::string_view::npos; at += word.size()) {
    const bool begins = at == 0 || list[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (begins && (end == list.size() || list[end] == ' ' || list[end] == '\n')) return true;
  }
  return false;
}

Status set_memory_limit(int directory, CgroupVersion version, std::uint64_t bytes) {
  const std::string limit = std::to_string(bytes);
  if (version == CgroupVersion::kV2) {
    TRY(write_control(directory, "memory.max", limit));
    // Absent without CONFIG_SWAP or with swapaccount=0; then the kernel cannot limit this group's swap, and offers
    // memory.max alone.
    if (Status swap = write_control(directory, "memory.swap.max", "0"); !swap && !is_missing(swap)) return swap;
    // memory.oom.group stays 0, so that v1 and v2 behave in the same way: one process dies, the supervisor sees the
    // counter.
    return {};
  }
  TRY(write_control(directory, "memory.limit_in_bytes", limit));
  // v1 counts socket buffers only if they have a limit of their own. A quarter, because they come on top of the memory.
  constexpr std::uint64_t kSocketShare = 4;
  TRY(write_control(directory, "memory.kmem.tcp.limit_in_bytes", std::to_string(bytes / kSocketShare)));
  // memory + swap must never be lower than memory, hence second.
  Status swap = write_control(directory, "memory.memsw.limit_in_bytes", limit);
  if (!swap && !is_missing(swap)) return swap;
  if (!swap) TRY(write_control(directory, "memory.swappiness", "0"));  // no swap accounting: do not swap this group
  // Inherited from the parent; if set, the kernel would freeze the tool at the limit instead of killing it.
  return write_control(directory, "memory.oom_control", "0");
}

Result<std::uint64_t> read_socket_memory(int directory, CgroupVersion version) {
  if (version == CgroupVersion::kV2) return 0;
  const std::string text = "usage " + TRY(read_control(directory, "memory.kmem.tcp.usage_in_bytes"));
  const std::optional<std::uint64_t> bytes = keyed_number(text, "usage");
  if (!bytes) return fail(system_error("read", "memory.kmem.tcp.usage_in_bytes", ENODATA));
  return *bytes;
}

Status set_pids_limit(int directory, std::uint32_t count) {
  return write_control(directory, "pids.max", std::to_string(count));
}

Result<std::uint64_t> read_oom_kills(int directory, CgroupVersion version) {
  std::string text;
  if (version == CgroupVersion::kV1) {
    text = TRY(read_control(directory, "memory.oom_control"));
  } else if (Result<std::string> local = read_control(directory, "memory.events.local"); local) {
    text = *std::move(local);
  } else {
    text = TRY(read_control(directory, "memory.events"));  // before Linux 5.2; a run's group has no children anyway
  }
  const std::optional<std::uint64_t> kills = keyed_number(text, "oom_kill");
  if (!kills) return fail(system_error("find oom_kill in", "the memory controller's counters", ENODATA));
  return *kills;
}

Result<std::chrono::microseconds> read_cpu_time(int directory, CgroupVersion version) {
  if (version == CgroupVersion::kV1) {
    const std::string text = "usage " + TRY(read_control(directory, "cpuacct.usage"));
    const auto nanoseconds = keyed_number(text, "usage");
    if (!nanoseconds) return fail(system_error("read", "cpuacct.usage", ENODATA));
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(*nanoseconds));
  }
  const auto microseconds = keyed_number(TRY(read_control(directory, "cpu.stat")), "usage_usec");
  if (!microseconds) return fail(system_error("read", "cpu.stat", ENODATA));
  return std::chrono::microseconds(*microseconds);
}

Status kill_group(int directory) {
  if (Status killed = write_control(directory, "cgroup.kill", "1"); killed || !is_missing(killed)) return killed;
  // With the pids controller, no process can fork while we walk; without it we have to outrun a fork bomb, so walk
  // until no process is left.
  static_cast<void>(write_control(directory, "pids.max", "0"));
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  do {
    const std::vector<pid_t> pids = TRY(processes_in(directory));
    if (pids.empty()) return {};
    for (const pid_t pid : pids) {
      if (pid == ::getpid()) return fail(system_error("kill", "a control group that holds its owner", EINVAL));
      if (pid > 0) TRY(kill_member(directory, pid));  // 0: a process our pid namespace cannot see
    }
    std::this_thread::sleep_for(1ms);
  } while (std::chrono::steady_clock::now() < give_up);
  return fail(system_error("empty", "a control group", EBUSY, "a process in it cannot be killed (state D?)"));
}

Status remove_group(int parent, const std::string& name) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  for (auto pause = std::chrono::microseconds(50);; pause = std::min<std::chrono::microseconds>(pause * 2, 20ms)) {
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    // A killed process leaves its group only when it has ended, some time after the signal.
    if (errno != EBUSY || std::chrono::steady_clock::now() >= give_up) {
      return fail(system_error("remove control group", name, errno));
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace sallyport
