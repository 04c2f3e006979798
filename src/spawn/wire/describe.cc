#include <fmt/format.h>

#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {
namespace {

std::string mount_options(const RootOp& op) {
  std::string text = (op.flags & wire::kOpReadOnly) != 0 ? "ro,nosuid" : "rw,nosuid";
  if ((op.flags & wire::kOpNoDevices) != 0) text += ",nodev";
  if ((op.flags & wire::kOpNoExec) != 0) text += ",noexec";
  return text;
}

}  // namespace

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
    case wire::OpKind::kMqueue:
      return fmt::format("mqueue   /{}", op.target);
    case wire::OpKind::kCheckIdentity:
      return fmt::format("check    {}", op.target);
    case wire::OpKind::kMask:
      return fmt::format("mask     /{}", op.target);
    case wire::OpKind::kCheckText:
      return fmt::format("{:<8} {}  {}", "check", op.source, op.content.substr(0, op.content.find('\n')));
    case wire::OpKind::kOverlay:
      return fmt::format("overlay  /{} {}", op.target, op.content);
    case wire::OpKind::kCount:
      break;
  }
  return {};
}

}  // namespace sallyport::spawn
