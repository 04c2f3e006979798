// What a process and everything below it hold in memory, from /proc: for a memory limit where no cgroup can be made.
//
// Counted: anonymous and shared memory that is mapped. Not counted: pages of files, which the kernel can drop; tmpfs files that
// nobody has mapped, memfds among them; the kernel's own memory for pipes, sockets and page tables.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "sallyport/result.h"

namespace sallyport {

// The number of the pidfd's process in our own /proc; an error when it is gone, or no number of ours.
[[nodiscard]] Result<pid_t> pid_of(int pidfd);

// Never too little of what is counted: pages that several processes share are counted for each of them. 0 when all are gone;
// nullopt when they are there and cannot be read.
[[nodiscard]] std::optional<std::uint64_t> most_memory_below(pid_t root);
// Shared pages once (the kernel's proportional set size). Takes longer the more is mapped.
[[nodiscard]] std::optional<std::uint64_t> memory_below(pid_t root);

}  // namespace sallyport
