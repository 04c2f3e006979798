#include "gate/why.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "core/errors.h"
#include "os/host_switches.h"
#include "os/place.h"

namespace sallyport {
namespace {

// The option that opens what a jail needs, and what it costs; empty where the place says nothing.
std::string_view advice_for_place(Place place) {
  switch (place) {
    case Place::kNoProc:
      return "/proc is not mounted here: mount -t proc proc /proc";
    case Place::kOwnJail:
      return "this is a jail of sallyport's already, which lets nobody make another: let the outer call start the tool";
    case Place::kGvisor:
      return "gVisor's kernel cannot build this jail, and keeps its container apart itself: `jail` none there";
    case Place::kDocker:
      return "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
             "--security-opt systempaths=unconfined; everything in it may then make namespaces, so run nothing else in "
             "it";
    case Place::kPodman:
      return "start the container with --security-opt seccomp=unconfined --security-opt unmask=ALL; everything in it "
             "may "
             "then make namespaces, so run nothing else in it";
    case Place::kContainer:
      return "let the container make user namespaces and mount /proc (Kubernetes: seccompProfile Unconfined, procMount "
             "Unmasked); everything in it may then make namespaces, so run nothing else in it";
    case Place::kChroot:
      return "the kernel makes no user namespace in a chroot: use a container, or systemd-nspawn -D DIR";
    case Place::kHost:
      break;
  }
  return {};
}

std::string advice_for(const SetupFailed& failure) {
  // A switch of the host's binds its containers too, and only the host can turn it.
  const auto off = user_namespaces_off(read_host_switches(), ::geteuid());
  if (off) return std::string(off->advice);
  if (const std::string_view advice = advice_for_place(recognise_place()); !advice.empty()) return std::string(advice);
  if (failure.stage == SetupStage::kProc) {
    return "/proc of this container is partly masked; start the container with an unmasked /proc";
  }
  if (failure.error_number == ENOSYS) return "this kernel is too old, or a container's seccomp filter hides the call";
  return "a container's seccomp filter or a security module may forbid namespaces here";
}

}  // namespace

bool host_cannot_jail(const Error& error) {
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
  if (error.hint.empty() && failure->host_cannot) error.hint = advice_for(*failure);
  return error;
}

}  // namespace sallyport
