// Finds what should not be there: survivors, zombies, descriptors, threads, files.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::test {

// A word that no other process has on its command line: pass it to a helper, then look for it.
[[nodiscard]] std::string unique_marker();

// Live processes (zombies have no command line) with `marker` somewhere in their command line, ourselves excepted.
[[nodiscard]] std::vector<pid_t> find_processes(std::string_view marker);

// Polls until no process has the marker. False after 10 s: only then is it a survivor and not a process whose killing
// the kernel has not finished yet.
[[nodiscard]] bool all_gone(std::string_view marker);
// Polls until at least `count` processes have the marker; false after 10 s.
[[nodiscard]] bool all_there(std::string_view marker, std::size_t count);

struct ProcessStat {
  char state = '?';  // of a process that is gone
  pid_t parent = 0;
};
[[nodiscard]] ProcessStat stat_of(pid_t pid);
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

// SIGKILL to every process with the marker, for a test that made a survivor on purpose (positive controls).
void kill_all(std::string_view marker);

// Take one before and one after, compare: `EXPECT_EQ(before, LeakCount::of_self(dir))`.
struct LeakCount {
  std::size_t open_fds = 0;
  std::size_t threads = 0;
  std::size_t children = 0;
  std::size_t zombies = 0;  // among the children
  std::size_t entries = 0;  // in `watched`, by name prefix

  [[nodiscard]] static LeakCount of(pid_t pid, const std::filesystem::path& watched = {}, std::string_view prefix = {});
  [[nodiscard]] static LeakCount of_self(const std::filesystem::path& watched = {}, std::string_view prefix = {});
  bool operator==(const LeakCount&) const = default;
};

std::ostream& operator<<(std::ostream& out, const LeakCount& count);

}  // namespace sallyport::test
