// What the seccomp program of a confined tool asks its worker, and how the worker reads the arguments.
#pragma once

#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

// Answers that more than one kind of question gets.
constexpr long kNotPermitted = -1;   // EPERM
constexpr long kBadDescriptor = -9;  // EBADF
constexpr long kBadAddress = -14;    // EFAULT
constexpr long kInvalid = -22;       // EINVAL
constexpr long kNoSuchCall = -38;    // ENOSYS

inline int as_int(std::uint64_t argument) { return static_cast<int>(static_cast<std::uint32_t>(argument)); }
inline std::uint32_t as_id(std::uint64_t argument) { return static_cast<std::uint32_t>(argument); }

char* append_text(char* out, const char* text);
// Opens something below the asking thread's directory in /proc: "cwd", "mem", or "fd/" with a number. Returns a
// descriptor or a negative errno.
long open_of_tool(const Run& run, std::uint32_t pid, const char* name, int number, long flags);
// Reads from the tool's memory, at most to the end of a page: the next page may not be mapped. Returns how much, or a
// negative errno.
long copy_in(long memory, std::uint64_t from, char* to, std::size_t size);
// Reads `size` bytes: 0 or a negative errno.
long copy_all_in(long memory, std::uint64_t from, char* to, std::size_t size);
// True when the asking thread is alive and still waits, so its pid was its own all the time.
bool still_asks(int listener, std::uint64_t id);

// Each of these returns 0 or a negative errno, for the tool.
// metadata.cc
long change_metadata(const Run& run, int listener, const struct seccomp_notif& about);
// sockets.cc. kAnswered: the tool has its answer already, or gets it when the owner answers.
constexpr long kAnswered = 1;
long make_socket(const Run& run, int listener, const struct seccomp_notif& about);
long connect_socket(const Run& run, int listener, const struct seccomp_notif& about);

}  // namespace sallyport::spawn::helper
