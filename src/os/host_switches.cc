#include "os/host_switches.h"

#include <array>
#include <string>

#include "os/file.h"

namespace sallyport {
namespace {

struct Switch {
  const char* path;
  char HostSwitches::* value;
  char off;  // the first character that means "no user namespaces"
  bool binds_root;
  std::string_view advice;
};
constexpr auto kSwitches = std::to_array<Switch>(
    {Switch{"/proc/sys/user/max_user_namespaces", &HostSwitches::max_user_namespaces, '0', true,
            "user namespaces are off: see sysctl user.max_user_namespaces"},
     Switch{"/proc/sys/kernel/unprivileged_userns_clone", &HostSwitches::unprivileged_userns_clone, '0', false,
            "user namespaces are off for plain users: see sysctl kernel.unprivileged_userns_clone"},
     Switch{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &HostSwitches::apparmor_restricts_userns, '1',
            false, "AppArmor restricts user namespaces: see sysctl kernel.apparmor_restrict_unprivileged_userns"}});

}  // namespace

HostSwitches read_host_switches() {
  HostSwitches host;
  for (const Switch& one : kSwitches) {
    const Result<std::string> text = read_whole_file(one.path, ByteCount{64});
    if (text && !text->empty()) host.*one.value = text->front();
  }
  return host;
}

std::optional<UserNamespacesOff> user_namespaces_off(const HostSwitches& host, uid_t user) {
  for (const Switch& one : kSwitches) {
    if (host.*one.value != one.off || (user == 0 && !one.binds_root)) continue;
    return UserNamespacesOff{.advice = one.advice,
                             .by_apparmor = one.value == &HostSwitches::apparmor_restricts_userns};
  }
  return std::nullopt;
}

}  // namespace sallyport
