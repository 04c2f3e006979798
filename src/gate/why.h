// Why a start failed, in words a person can act on: which step, which file or sysctl to look at.
#pragma once

#include <sys/types.h>

#include <string>

#include "sallyport/error.h"
#include "sallyport/plan.h"
#include "sallyport/result.h"

namespace sallyport {

// True when the host lacks what a jail needs (so another jail may work); false when this request is at fault.
[[nodiscard]] bool host_cannot_jail(const Error& error);

// Turns a step's name and errno into the caller's words for `tool`; other errors pass through.
[[nodiscard]] Error explain_failure(Error error, const std::string& tool, const std::string& path);

// The first character of each sysctl that decides about user namespaces; '\0' where the host has none.
struct HostSwitches {
  char max_user_namespaces = '\0';
  char unprivileged_userns_clone = '\0';
  char apparmor_restricts_userns = '\0';
};
[[nodiscard]] HostSwitches read_host_switches();

// Which jail `auto` would come to, told without starting anything: an error where it would find none. What no switch
// shows (a container's seccomp filter) only a start, or `sallyport doctor`, finds out.
[[nodiscard]] Result<JailKind> expected_jail(const HostSwitches& host, uid_t user);

}  // namespace sallyport
