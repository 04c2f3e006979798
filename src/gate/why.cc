#include "gate/why.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "core/errors.h"
#include "os/file.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport {
namespace {

using spawn::stage_name;
using spawn::wire::Stage;

constexpr auto kHostStages = std::to_array<Stage>(
    {Stage::kClone, Stage::kUserMap, Stage::kPrivateMounts, Stage::kNewRoot, Stage::kTmpfs, Stage::kProc,
     Stage::kDevpts, Stage::kMask, Stage::kPivot, Stage::kReadOnlyRoot, Stage::kLoopback, Stage::kNetwork,
     Stage::kHostname, Stage::kSeccomp, Stage::kCgroupNamespace, Stage::kCapabilities});

struct Switch {
  const char* path;
  char HostSwitches::* value;
  char off;  // the first character that means "no user namespaces for you"
  const char* advice;
};
constexpr auto kSwitches = std::to_array<Switch>(
    {Switch{"/proc/sys/user/max_user_namespaces", &HostSwitches::max_user_namespaces, '0',
            "user namespaces are off: see sysctl user.max_user_namespaces"},
     Switch{"/proc/sys/kernel/unprivileged_userns_clone", &HostSwitches::unprivileged_userns_clone, '0',
            "user namespaces are off for plain users: see sysctl kernel.unprivileged_userns_clone"},
     Switch{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &HostSwitches::apparmor_restricts_userns, '1',
            "AppArmor restricts user namespaces: see sysctl kernel.apparmor_restrict_unprivileged_userns"}});

const Switch* switched_off(const HostSwitches& host) {
  const auto* found = std::ranges::find_if(kSwitches, [&](const Switch& one) { return host.*one.value == one.off; });
  return found == kSwitches.end() ? nullptr : found;
}

std::string advice_for(const SetupFailed& failure) {
  if (failure.stage == stage_name(Stage::kProc)) {
    return "/proc of this container is partly masked; start the container with an unmasked /proc";
  }
  if (const Switch* off = switched_off(read_host_switches())) return off->advice;
  if (failure.error_number == ENOSYS) return "this kernel is too old, or a container's seccomp filter hides the call";
  return "a container's seccomp filter or a security module may forbid namespaces here";
}

}  // namespace

bool host_cannot_jail(const Error& error) {
  if (error.as<JailUnavailable>() != nullptr || error.as<ToolMissingError>() != nullptr) return true;
  const auto* failure = error.as<SetupFailed>();
  if (failure == nullptr) return false;
  if (failure->error_number == ENOSYS) return true;
  return std::ranges::any_of(kHostStages, [&](Stage stage) { return failure->stage == stage_name(stage); });
}

Error explain_failure(Error error, const std::string& tool, const std::string& path) {
  const auto* failure = error.as<SetupFailed>();
  if (failure == nullptr) return error;
  if (failure->stage == stage_name(Stage::kExec)) {
    return tool_not_runnable(tool, path, errno_text(failure->error_number),
                             "is it built for this machine, and is its dynamic linker installed?");
  }
  if (failure->stage == stage_name(Stage::kExecIdentity) && failure->error_number == ESTALE) {
    return untrusted_tool(tool, path, "the file changed between the check and the start", "try again");
  }
  if (error.hint.empty() && host_cannot_jail(error)) error.hint = advice_for(*failure);
  return error;
}

HostSwitches read_host_switches() {
  HostSwitches host;
  for (const Switch& one : kSwitches) {
    const Result<std::string> text = read_whole_file(one.path, ByteCount{64});
    if (text && !text->empty()) host.*one.value = text->front();
  }
  return host;
}

Result<JailKind> expected_jail(const HostSwitches& host, uid_t user) {
  const Switch* off = switched_off(host);
  // The last two are for plain users only.
  if (off == nullptr || (user == 0 && off->value != &HostSwitches::max_user_namespaces)) return JailKind::kNative;
  // An AppArmor profile of its own lets bwrap do what we may not; no profile outranks the other two.
  if (off->value == &HostSwitches::apparmor_restricts_userns) return JailKind::kBwrap;
  return fail(jail_unavailable("auto", "no jail can be built without user namespaces", off->advice));
}

}  // namespace sallyport
