#include "os/tree_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/process_table.h"
#include "sallyport/unique_fd.h"

namespace sallyport {
namespace {

// Each file read here is short, or its beginning is enough.
using Text = std::array<char, 16 * 1024>;

// -1 and errno when it cannot be read.
ssize_t read_proc(const std::string& path, Text& text) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return -1;
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(size);
}

bool is_gone(int error) { return error == ENOENT || error == ESRCH; }

// The number after "
// Name:" and blanks.
std::optional<std::uint64_t> number_of(std::string_view text, std::string_view name) {
  std::size_t at = text.starts_with(name.substr(1)) ? name.size() - 1 : text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  if (text[at] == '\n') at += name.size();
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  return problem == std::errc{} ? std::optional(number) : std::nullopt;
}

void add_numbers(std::string_view text, std::vector<pid_t>& pids) {
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  while (at < last) {
    pid_t pid = 0;
    const auto [end, problem] = std::from_chars(at, last, pid);
    if (problem == std::errc{}) pids.push_back(pid);
    at = end + 1;
  }
}

// Every thread has its own children. False: this kernel does not list them (CONFIG_PROC_CHILDREN), or not for this
// process.
bool add_children(pid_t pid, std::vector<pid_t>& pids) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const UniqueFd directory(::open(tasks.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return is_gone(errno);
  const Result<std::vector<std::string>> threads = list_directory(directory.get(), tasks);
  if (!threads) return true;  // it ended meanwhile
  for (const std::string& thread : *threads) {
    Text text;
    const ssize_t size = read_proc(fmt::format("{}/{}/children", tasks, thread), text);
    if (size < 0 && errno == ENOENT && ::access(fmt::format("{}/{}", tasks, thread).c_str(), F_OK) == 0) return false;
    if (size > 0) add_numbers({text.data(), static_cast<std::size_t>(size)}, pids);
  }
  return true;
}

// Finds the tree by every process's parent.
std::vector<pid_t> tree_from_table(pid_t root) {
  std::vector<pid_t> pids = {root};
  const Result<std::vector<ProcessEntry>> all = list_processes();
  if (!all) return pids;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    for (const ProcessEntry& entry : *all) {
      if (entry.parent == pids[i]) pids.push_back(entry.pid);
    }
  }
  return pids;
}

std::vector<pid_t> tree_of(pid_t root) {
  std::vector<pid_t> pids = {root};
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (!add_children(pids[i], pids)) return tree_from_table(root);
  }
  return pids;
}

// Reads `file` of every process and adds up the kilobytes of the `wanted` lines.
std::optional<std::uint64_t> sum_below(pid_t root, std::string_view file, std::array<std::string_view, 2> wanted) {
  std::uint64_t kilobytes = 0;
  for (const pid_t pid : tree_of(root)) {
    Text text;
    const ssize_t size = read_proc(fmt::format("/proc/{}/{}", pid, file), text);
    if (size < 0 && is_gone(errno)) continue;
    // The jail's own init cannot be inspected; it is as small as its image.
    if (size < 0 && pid == root) continue;
    if (size < 0) return std::nullopt;
    const std::string_view read(text.data(), static_cast<std::size_t>(size));
    for (const std::string_view name : wanted) kilobytes += number_of(read, name).value_or(0);  // of a zombie: none
  }
  return kilobytes * 1024;
}

}  // namespace

Result<pid_t> pid_of(int pidfd) {
  Text text;
  const ssize_t size = read_proc(fmt::format("/proc/self/fdinfo/{}", pidfd), text);
  if (size < 0) return fail(system_error("read", "a process's number in /proc/self/fdinfo", errno));
  const auto pid = number_of({text.data(), static_cast<std::size_t>(size)}, "\nPid:");
  if (!pid || *pid == 0) return fail(system_error("find", "a process's number in /proc/self/fdinfo", ESRCH));
  return static_cast<pid_t>(*pid);
}

std::optional<std::uint64_t> most_memory_below(pid_t root) {
  return sum_below(root, "status", {"\nRssAnon:", "\nRssShmem:"});
}

std::optional<std::uint64_t> memory_below(pid_t root) {
  return sum_below(root, "smaps_rollup", {"\nPss_Anon:", "\nPss_Shmem:"});
}

}  // namespace sallyport
