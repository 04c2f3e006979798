// The control files of one cgroup directory; only this file knows what differs between v1 and v2.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "os/cgroup.h"
#include "os/cgroup_layout.h"
#include "sallyport/result.h"

namespace sallyport {

// Writes one control file. A missing file is ENOENT: nothing is ever created.
[[nodiscard]] Status write_control(int directory, const std::string& file, std::string_view value);
[[nodiscard]] Result<std::string> read_control(int directory, const std::string& file);

// Whether a space-separated list such as cgroup.controllers holds `word`.
[[nodiscard]] bool has_word(std::string_view list, std::string_view word);

// Limits memory and swap together, so that swap does not bypass the limit.
[[nodiscard]] Status set_memory_limit(int directory, CgroupVersion version, std::uint64_t bytes);
// What v1 counts apart from memory.usage_in_bytes: buffers of TCP and UDP sockets, including what it granted beyond
// their limit. v2 counts them as memory, so there it is 0.
[[nodiscard]] Result<std::uint64_t> read_socket_memory(int directory, CgroupVersion version);
[[nodiscard]] Status set_pids_limit(int directory, std::uint32_t count);

[[nodiscard]] Result<std::uint64_t> read_oom_kills(int directory, CgroupVersion version);
[[nodiscard]] Result<std::chrono::microseconds> read_cpu_time(int directory, CgroupVersion version);

// Sends SIGKILL to every process in the group until none is left.
[[nodiscard]] Status kill_group(int directory);
// rmdir, which waits a while for processes that are still dying.
[[nodiscard]] Status remove_group(int parent, const std::string& name);

// The v2 directory in which a group with the wanted controllers can be made: our own cgroup or the nearest ancestor
// that passes them to its children and that we may write to. Never climbs out of a cgroup whose own limit is tighter.
[[nodiscard]] Result<std::filesystem::path> choose_v2_parent(const CgroupLayout& layout, const CgroupLimits& limits);

}  // namespace sallyport
