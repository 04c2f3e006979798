// The environment, limits and memory, verdicts, and who is executed.
// Part of cases.h.
#pragma once

#include <array>

#include "attack/case.h"

namespace sallyport::attack::detail {
using enum Guarantee;
using enum Effect;
using enum Prop;

inline constexpr auto kLimitCases = std::to_array<Case>({
    // Environment
    Case{"env_secrets", kEnvStripped, kTellsCanary, kNothing, "read the caller's tokens from the environment"},
    Case{"env_of_parents", kEnvStripped, kTellsCanary, kAccomplice,
         "read the caller's tokens from other processes' environment"},
    Case{"ld_preload", kEnvStripped, kTellsBroken, kPreload, "have the caller pass LD_PRELOAD"},
    // Limits
    Case{"fork_bomb", kLimitPids, kTellsBroken, kNothing, "start more processes than allowed"},
    Case{"thread_bomb", kLimitPids, kTellsBroken, kNothing, "start more threads than allowed"},
    Case{"memory_anon", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed"},
    Case{"memory_tmpfs", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed, as files in /tmp"},
    Case{"memory_memfd", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed, as a memfd"},
    Case{"memory_children", kLimitMemory, kTellsBroken, kNothing, "use more memory than allowed, spread over children"},
    // Memory the kernel keeps for a process
    Case{"memory_tcp", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in TCP buffers"},
    Case{"memory_many_sockets", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in few bytes for each of very many sockets"},
    Case{"memory_corked", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in corked datagrams"},
    Case{"memory_unfinished", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in datagrams that are started and not finished"},
    Case{"memory_udp", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in UDP datagrams"},
    Case{"memory_udp6", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in UDP over IPv6"},
    Case{"memory_udp_small", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in datagrams of one byte"},
    Case{"memory_unix_stream", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in unix stream sockets"},
    Case{"memory_unix_datagram", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in unix datagram sockets"},
    Case{"memory_netlink", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in unread netlink answers"},
    Case{"memory_pipes", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in pipes"},
    Case{"memory_page_tables", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in page tables"},
    Case{"memory_message_queues", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in System V messages"},
    Case{"memory_epoll", kLimitMemory, kTellsBroken, kNothing, "hold more memory than allowed in epoll records"},
    Case{"memory_inotify", kLimitMemory, kTellsBroken, kNothing,
         "hold more memory than allowed in unread inotify events"},
    Case{"disk_tmp", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to /tmp"},
    Case{"disk_shm", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to /dev/shm"},
    Case{"disk_var_tmp", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to /var/tmp"},
    Case{"disk_unlinked", kLimitDisk, kTellsBroken, kNothing, "write more than the quota to a file already deleted"},
    Case{"disk_files", kLimitDisk, kTellsBroken, kNothing, "make more empty files than the kernel should remember"},
    Case{"cpu_burn", kLimitCpu, kTellsBroken, kNothing, "use more processor time than allowed"},
    Case{"cpu_children", kLimitCpu, kTellsBroken, kNothing,
         "use more processor time than allowed, split over children"},
    Case{"output_flood", kLimitOutput, kFloods, kNothing, "print more than is kept"},
    Case{"output_one_line", kLimitOutput, kFloods, kNothing, "print one endless line on stderr"},
    // Verdicts
    Case{"forge_exit_137", kLimitMemory, kForgesVerdict, kNothing, "look like an out-of-memory kill by exit code 137"},
    Case{"forge_sigkill", kLimitMemory, kForgesVerdict, kNothing,
         "look like an out-of-memory kill by SIGKILL to oneself"},
    Case{"forge_exit_124", kLimitWall, kForgesVerdict, kNothing, "look like a timeout by exit code 124"},
    Case{"forge_text", kLimitWall, kForgesVerdict, kNothing, "print that the sandbox denied and killed it"},
    // Who is executed
    Case{"planted_in_repo", kExecPinned, kTellsBroken, kImpostor, "be the program of that name in the repo"},
    Case{"planted_in_tmp", kExecPinned, kTellsBroken, kImpostor,
         "be the program of that name in a world-writable directory"},
    Case{"swapped_binary", kExecPinned, kTellsBroken, kPinnedTool, "be another file than the one the policy pinned"},
    Case{"unlisted_tool", kExecAllowlisted, kTellsBroken, kDefaultSet, "be a tool outside the closed set"},
    Case{"path_as_tool", kExecAllowlisted, kTellsBroken, kImpostor, "be asked for by path instead of by name"},
});

}  // namespace sallyport::attack::detail
