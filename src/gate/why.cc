#include "gate/why.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>

#include "core/errors.h"

namespace sallyport {

std::string advice_after(const SetupFailed& failure, const HostSigns& host) {
  // A sysctl of the host binds its containers too, and only the host can change it.
  const auto off = user_namespaces_off(host.switches, host.user);
  if (off) return std::string(off->advice);
  if (const std::string_view advice = advice_for(host.place); !advice.empty()) return std::string(advice);
  if (failure.stage == SetupStage::kProc) {
    return "/proc of this container is partly masked; start the container with an unmasked /proc";
  }
  if (failure.error_number == ENOSYS) return "this kernel is too old, or a container's seccomp filter hides the call";
  return "a container's seccomp filter or a security module may forbid namespaces here";
}

bool host_cannot_jail(const Error& error) {
  if (error.tool_may_have_started) return false;  // another jail would run the tool a second time
  if (error.as<JailUnavailable>() != nullptr || error.as<ToolMissingError>() != nullptr) return true;
  const auto* failure = error.as<SetupFailed>();
  return failure != nullptr && failure->host_cannot;
}

Error explain_failure(Error error, const std::string& tool, const std::string& path) {
  const auto* failure = error.as<SetupFailed>();
  if (failure == nullptr) return error;
  if (failure->stage == SetupStage::kExec) {
    return tool_not_runnable(tool, path, errno_text(failure->error_number),
                             "is it built for this machine, and is its dynamic linker installed?");
  }
  if (failure->stage == SetupStage::kExecIdentity && failure->error_number == ESTALE) {
    return untrusted_tool(tool, path, "the file changed between the check and the start", "try again");
  }
  if (error.hint.empty() && failure->host_cannot) {
    error.hint =
        advice_after(*failure, {.switches = read_host_switches(), .user = ::geteuid(), .place = recognise_place()});
  }
  return error;
}

}  // namespace sallyport
