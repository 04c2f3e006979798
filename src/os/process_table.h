// What /proc says about processes; CONFIG_PROC_CHILDREN is not everywhere.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport {

struct ProcessEntry {
  pid_t pid = 0;
  std::string comm;
  char state = '?';  // 'Z' is a zombie
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  std::uint64_t start_ticks = 0;  // with the pid, identifies a process across pid reuse
};

// One line of /proc/<pid>/stat; comm may hold spaces, parentheses and newlines. nullopt when it is malformed.
[[nodiscard]] std::optional<ProcessEntry> parse_proc_stat(std::string_view text);

// All processes of our pid namespace. Leaves out processes that end meanwhile.
[[nodiscard]] Result<std::vector<ProcessEntry>> list_processes();

}  // namespace sallyport
