// The sysctls that decide whether a process may make user namespaces, without which no Linux jail of ours can be built.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace sallyport {

// The first character of each; '\0' where the host has none.
struct HostSwitches {
  char max_user_namespaces = '\0';
  char unprivileged_userns_clone = '\0';
  char apparmor_restricts_userns = '\0';
};
[[nodiscard]] HostSwitches read_host_switches();

struct UserNamespacesOff {
  std::string_view advice;   // which sysctl to see
  bool by_apparmor = false;  // so a program with a profile of its own may make them all the same
};
// None where nothing forbids them. What no switch shows (a container's seccomp filter) only a start finds out.
[[nodiscard]] std::optional<UserNamespacesOff> user_namespaces_off(const HostSwitches& host, uid_t user);

}  // namespace sallyport
