// Measures from /proc the memory of a process and everything below it: for a memory limit where no cgroup can be made.
//
// Counted: anonymous and shared memory that is mapped. Not counted: pages of files, which the kernel can drop; tmpfs
// files that no process has mapped, memfds among them; the kernel's own memory for pipes, sockets and page tables.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "sallyport/result.h"

namespace sallyport {

// The number of the pidfd's process in our own /proc; an error when it is gone, or has no pid here.
[[nodiscard]] Result<pid_t> pid_of(int pidfd);

// An upper bound: counts shared pages once for each process. 0 when all processes are gone; nullopt when they exist but
// cannot be read.
[[nodiscard]] std::optional<std::uint64_t> most_memory_below(pid_t root);
// Counts shared pages once (the kernel's proportional set size). The time grows with the mapped memory.
[[nodiscard]] std::optional<std::uint64_t> memory_below(pid_t root);

}  // namespace sallyport
