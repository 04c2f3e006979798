// The sysctls that decide whether a process may make user namespaces, without which no Linux jail of ours can be built.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string_view>

namespace sallyport {

// The first character of each sysctl; '\0' if the host lacks it.
struct HostSwitches {
  char max_user_namespaces = '\0';
  char unprivileged_userns_clone = '\0';
  char apparmor_restricts_userns = '\0';
};
[[nodiscard]] HostSwitches read_host_switches();

struct UserNamespacesOff {
  std::string_view advice;   // which sysctl to check
  bool by_apparmor = false;  // then a program with its own profile may make them anyway
};
// nullopt if no sysctl forbids them. Only a start can find other obstacles (a container's seccomp filter).
[[nodiscard]] std::optional<UserNamespacesOff> user_namespaces_off(const HostSwitches& host, uid_t user);

}  // namespace sallyport
