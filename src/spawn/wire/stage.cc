#include <fmt/format.h>

#include <array>

#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(wire::Stage::kCount)> kStageNames = {
    "nothing",
    "receiving the request",
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
    "masking a path",
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

std::string mount_options(const RootOp& op) {
  std::string text = (op.flags & wire::kOpReadOnly) != 0 ? "ro,nosuid" : "rw,nosuid";
  if ((op.flags & wire::kOpNoDevices) != 0) text += ",nodev";
  if ((op.flags & wire::kOpNoExec) != 0) text += ",noexec";
  return text;
}

}  // namespace

std::string_view stage_name(wire::Stage stage) {
  const auto index = static_cast<std::size_t>(stage);
  return index < kStageNames.size() ? kStageNames[index] : "unknown step";
}

std::string describe(const RootOp& op) {
  switch (op.kind) {
    case wire::OpKind::kDirectory:
      return fmt::format("dir      /{} {:04o}", op.target, op.mode);
    case wire::OpKind::kFile:
      return fmt::format("file     /{} {:04o} {} bytes", op.target, op.mode, op.content.size());
    case wire::OpKind::kCopy:
      return fmt::format("copy     {} to /{} {:04o}", op.source, op.target, op.mode);
    case wire::OpKind::kSymlink:
      return fmt::format("symlink  /{} -> {}", op.target, op.source);
    case wire::OpKind::kBind:
      return fmt::format("bind     {} on /{} {}", op.source, op.target, mount_options(op));
    case wire::OpKind::kBindInside:
      return fmt::format("bind     (jail)/{} on /{} {}", op.source, op.target, mount_options(op));
    case wire::OpKind::kTmpfs:
      return fmt::format("tmpfs    /{} {}", op.target, op.content);
    case wire::OpKind::kProc:
      return fmt::format("proc     /{} ro", op.target);
    case wire::OpKind::kDevpts:
      return fmt::format("devpts   /{} {}", op.target, op.content);
    case wire::OpKind::kCheckIdentity:
      return fmt::format("check    {}", op.target);
    case wire::OpKind::kMask:
      return fmt::format("mask     /{}", op.target);
  }
  return {};
}

}  // namespace sallyport::spawn
