#include "sallyport/setup_stage.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "sallyport/error.h"

namespace sallyport {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(SetupStage::kCount)> kStageNames = {
    "nothing",
    "receiving the request",
    "the jail itself",
    "new process or namespaces",
    "tie to the parent",
    "user and group map",
    "private mounts",
    "new root",
    "opening a path to mount",
    "path changed since it was checked",
    "making a directory",
    "making a file",
    "making a symlink",
    "bind mount",
    "tmpfs mount",
    "proc mount",
    "devpts mount",
    "mqueue mount",
    "masking a path",
    "overlay mount",
    "read-only root",
    "pivot_root",
    "loopback",
    "network for egress",
    "host name",
    "new session",
    "joining the cgroup",
    "cgroup namespace",
    "resource limits",
    "standard streams",
    "working directory",
    "no_new_privs",
    "speculation controls",
    "landlock",
    "dropping capabilities",
    "seccomp filter",
    "confining the jail's init",
    "executable changed since it was checked",
    "exec",
};

}  // namespace

std::string_view stage_name(SetupStage stage) {
  const auto index = static_cast<std::size_t>(stage);
  return index < kStageNames.size() ? kStageNames[index] : "unknown step";
}

}  // namespace sallyport
