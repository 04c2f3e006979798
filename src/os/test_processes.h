// For tests only: what is left behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <vector>

#include "os/process_table.h"

namespace sallyport {

// Direct children, zombies included: a snapshot.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const ProcessEntry& entry : list_processes().value()) {
    if (entry.parent == parent) children.push_back(entry.pid);
  }
  return children;
}

// Of this process, with the one that lists them.
inline std::size_t count_open_fds() {
  using Entries = std::filesystem::directory_iterator;
  return static_cast<std::size_t>(std::distance(Entries("/proc/self/fd"), Entries()));
}

}  // namespace sallyport
