#include "gate/why.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "core/errors.h"
#include "os/file.h"
#include "spawn/launch_spec.h"

namespace sallyport {
namespace {

using spawn::stage_name;
using spawn::wire::Stage;

constexpr std::array kHostStages = {
    Stage::kClone,    Stage::kUserMap,  Stage::kPrivateMounts, Stage::kNewRoot,         Stage::kTmpfs,
    Stage::kProc,     Stage::kDevpts,   Stage::kMask,          Stage::kPivot,           Stage::kReadOnlyRoot,
    Stage::kLoopback, Stage::kHostname, Stage::kSeccomp,       Stage::kCgroupNamespace, Stage::kCapabilities};

struct Switch {
  const char* path;
  char off;  // the first character that means "no user namespaces for you"
  const char* advice;
};
constexpr std::array kSwitches = {
    Switch{"/proc/sys/user/max_user_namespaces", '0', "user namespaces are off: see sysctl user.max_user_namespaces"},
    Switch{"/proc/sys/kernel/unprivileged_userns_clone", '0',
           "user namespaces are off for plain users: see sysctl kernel.unprivileged_userns_clone"},
    Switch{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
           "AppArmor restricts user namespaces: see sysctl kernel.apparmor_restrict_unprivileged_userns"}};

std::string advice_for(const SetupFailed& failure) {
  if (failure.stage == stage_name(Stage::kProc)) {
    return "/proc of this container is partly masked; start the container with an unmasked /proc";
  }
  for (const Switch& one : kSwitches) {
    const Result<std::string> value = read_whole_file(one.path, ByteCount{64});
    if (value && value->starts_with(one.off)) return one.advice;
  }
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

}  // namespace sallyport
