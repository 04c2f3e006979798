// The environment, limits and memory, verdicts, and which program is executed.
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
    Case{"env_secrets", kEnvStripped, kPrintsCanary, kNothing, "read the caller's tokens from the environment"},
    Case{"env_of_parents", kEnvStripped, kPrintsCanary, kAccomplice,
         "read the caller's tokens from other processes' environment"},
    Case{"ld_preload", kEnvStripped, kPrintsBroken, kPreload, "have the caller pass LD_PRELOAD"},
    // Limits
    Case{"fork_bomb", kLimitPids, kPrintsBroken, kNothing, "start more processes than allowed"},
    Case{"thread_bomb", kLimitPids, kPrintsBroken, kNothing, "start more threads than allowed"},
    Case{"memory_anon", kLimitMemory, kPrintsBroken, kNothing, "use more memory than allowed"},
    Case{"memory_tmpfs", kLimitMemory, kPrintsBroken, kNothing, "use more memory than allowed, as files in /tmp"},
    Case{"memory_memfd", kLimitMemory, kPrintsBroken, kNothing, "use more memory than allowed, as a memfd"},
    Case{"memory_children", kLimitMemory, kPrintsBroken, kNothing,
         "use more memory than allowed, spread over children"},
    // Memory the kernel keeps for a process
    Case{"memory_tcp", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in TCP buffers"},
    Case{"memory_many_sockets", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in few bytes for each of very many sockets"},
    Case{"memory_corked", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in corked datagrams"},
    Case{"memory_unfinished", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in datagrams that are started and not finished"},
    Case{"memory_udp", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in UDP datagrams"},
    Case{"memory_udp6", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in UDP over IPv6"},
    Case{"memory_udp_small", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in datagrams of one byte"},
    Case{"memory_unix_stream", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in unix stream sockets"},
    Case{"memory_unix_datagram", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in unix datagram sockets"},
    Case{"memory_netlink", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in unread netlink answers"},
    Case{"memory_pipes", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in pipes"},
    Case{"memory_page_tables", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in page tables"},
    Case{"memory_message_queues", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in System V messages"},
    Case{"memory_epoll", kLimitMemory, kPrintsBroken, kNothing, "hold more memory than allowed in epoll records"},
    Case{"memory_inotify", kLimitMemory, kPrintsBroken, kNothing,
         "hold more memory than allowed in unread inotify events"},
    Case{"disk_tmp", kLimitDisk, kPrintsBroken, kNothing, "write more than the quota to /tmp"},
    Case{"disk_shm", kLimitDisk, kPrintsBroken, kNothing, "write more than the quota to /dev/shm"},
    Case{"disk_var_tmp", kLimitDisk, kPrintsBroken, kNothing, "write more than the quota to /var/tmp"},
    Case{"disk_unlinked", kLimitDisk, kPrintsBroken, kNothing, "write more than the quota to a file already deleted"},
    Case{"disk_files", kLimitDisk, kPrintsBroken, kNothing, "make more empty files than the kernel should remember"},
    Case{"cpu_burn", kLimitCpu, kPrintsBroken, kNothing, "use more processor time than allowed"},
    Case{"cpu_children", kLimitCpu, kPrintsBroken, kNothing,
         "use more processor time than allowed, split over children"},
    Case{"output_flood", kLimitOutput, kFloods, kNothing, "print more than is kept"},
    Case{"output_one_line", kLimitOutput, kFloods, kNothing, "print one endless line on stderr"},
    // Verdicts
    Case{"forge_exit_137", kLimitMemory, kForgesVerdict, kNothing, "look like an out-of-memory kill by exit code 137"},
    Case{"forge_sigkill", kLimitMemory, kForgesVerdict, kNothing,
         "look like an out-of-memory kill by SIGKILL to oneself"},
    Case{"forge_exit_124", kLimitWall, kForgesVerdict, kNothing, "look like a timeout by exit code 124"},
    Case{"forge_text", kLimitWall, kForgesVerdict, kNothing, "print that the sandbox denied and killed it"},
    // Which program is executed
    Case{"planted_in_repo", kExecPinned, kPrintsBroken, kImpostor, "be the program of that name in the repo"},
    Case{"planted_in_tmp", kExecPinned, kPrintsBroken, kImpostor,
         "be the program of that name in a world-writable directory"},
    Case{"swapped_binary", kExecPinned, kPrintsBroken, kPinnedTool, "be another file than the one the policy pinned"},
    Case{"unlisted_tool", kExecAllowlisted, kPrintsBroken, kDefaultSet, "be a tool outside the closed set"},
    Case{"path_as_tool", kExecAllowlisted, kPrintsBroken, kImpostor, "be asked for by path instead of by name"},
});

}  // namespace sallyport::attack::detail
