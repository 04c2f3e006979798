#include "support/processes.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

std::size_t count_entries(const fs::path& dir, std::string_view prefix = {}) {
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) ++count;
  }
  return count;
}

template <class Condition>
bool eventually(Condition condition) {
  const auto give_up_at = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up_at) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

std::string unique_marker() {
  static std::atomic<unsigned> serial{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "sallyport-marker-" + std::to_string(getpid()) + "-" + std::to_string(now) + "-" + std::to_string(++serial);
}

std::vector<pid_t> find_processes(std::string_view marker) {
  std::vector<pid_t> found;
  for (const pid_t pid : all_pids()) {
    if (pid == getpid()) continue;
    if (read_file("/proc/" + std::to_string(pid) + "/cmdline").find(marker) != std::string::npos) found.push_back(pid);
  }
  return found;
}

bool all_gone(std::string_view marker) {
  return eventually([&] { return find_processes(marker).empty(); });
}

bool all_there(std::string_view marker, std::size_t count) {
  return eventually([&] { return find_processes(marker).size() >= count; });
}

// The command name in /proc/PID/stat may contain anything, also ") R 1"; the fields start after the last parenthesis.
ProcessStat stat_of(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t close = text.rfind(')');
  ProcessStat stat;
  if (close != std::string::npos) std::istringstream(text.substr(close + 1)) >> stat.state >> stat.parent;
  return stat;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children = all_pids();
  std::erase_if(children, [parent](pid_t pid) { return stat_of(pid).parent != parent; });
  return children;
}

void kill_all(std::string_view marker) {
  for (const pid_t pid : find_processes(marker)) kill(pid, SIGKILL);
}

LeakCount LeakCount::of(pid_t pid, const fs::path& watched, std::string_view prefix) {
  const fs::path proc = fs::path("/proc") / std::to_string(pid);
  LeakCount count{.open_fds = count_entries(proc / "fd"), .threads = count_entries(proc / "task")};
  for (const pid_t child : children_of(pid)) {
    ++count.children;
    if (stat_of(child).state == 'Z') ++count.zombies;
  }
  if (!watched.empty()) count.entries = count_entries(watched, prefix);
  return count;
}

LeakCount LeakCount::of_self(const fs::path& watched, std::string_view prefix) { return of(getpid(), watched, prefix); }

std::ostream& operator<<(std::ostream& out, const LeakCount& count) {
  return out << "{fds " << count.open_fds << ", threads " << count.threads << ", children " << count.children
             << ", zombies " << count.zombies << ", entries " << count.entries << "}";
}

}  // namespace sallyport::test
