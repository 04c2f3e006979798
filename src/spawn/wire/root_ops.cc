#include "spawn/wire/root_ops.h"

namespace sallyport::spawn {
namespace {

using wire::OpKind;

void render_bind(const ViewEntry& entry, const IdentityOf& identity_of, RootOp& op) {
  op.kind = OpKind::kBind;
  op.flags = wire::kOpNoDevices | (entry.access == RepoAccess::kReadOnly ? wire::kOpReadOnly : 0U);
  // The caller chose nothing of the base, so nobody else can have swapped it.
  if (!entry.of_base) op.identity = identity_of(entry.source);
  if (entry.no_exec) op.flags |= wire::kOpNoExec;
}

// The one place where device nodes work, still without programs or setuid. Read-only protects the host's node: its
// mode, owner, times and attributes. The tool can still write data to the device.
void render_device(RootOp& op) {
  op.kind = OpKind::kBind;
  op.flags = wire::kOpNoExec | wire::kOpReadOnly;
}

RootOp render_entry(const ViewEntry& entry, const IdentityOf& identity_of) {
  RootOp op{.target = entry.target.substr(1), .source = entry.source, .content = entry.content, .mode = entry.mode};
  switch (entry.kind) {
    case ViewKind::kDirectory:
      op.kind = OpKind::kDirectory;
      break;
    case ViewKind::kSymlink:
      op.kind = OpKind::kSymlink;
      break;
    case ViewKind::kFile:
      op.kind = OpKind::kFile;
      break;
    case ViewKind::kCopy:
      op.kind = OpKind::kCopy;
      break;
    case ViewKind::kBind:
      render_bind(entry, identity_of, op);
      break;
    case ViewKind::kDevice:
      render_device(op);
      break;
    case ViewKind::kScratch:
      op.kind = OpKind::kTmpfs;
      op.flags = wire::kOpReportFd;
      break;
    case ViewKind::kShared:
      op.kind = OpKind::kBindInside;
      op.source = entry.source.substr(1);
      op.flags = wire::kOpNoDevices | wire::kOpSystem;
      break;
    case ViewKind::kProc:
      op.kind = OpKind::kProc;
      break;
    case ViewKind::kDevpts:
      op.kind = OpKind::kDevpts;
      op.content = "newinstance,ptmxmode=0666,mode=0620";
      break;
    case ViewKind::kMqueue:
      op.kind = OpKind::kMqueue;
      break;
    case ViewKind::kMask:
      op.kind = OpKind::kMask;
      break;
    case ViewKind::kOverlay:
      op.kind = OpKind::kOverlay;
      break;
    case ViewKind::kAlias:
      op.kind = OpKind::kBindInside;
      op.source = entry.source.substr(1);
      op.flags = wire::kOpNoDevices;
      break;
  }
  if (entry.make_target) op.flags |= wire::kOpMakeFile;
  if (entry.of_caller) op.flags |= wire::kOpBeneath;
  if (entry.of_base && op.kind == OpKind::kBind && !op.identity) op.flags |= wire::kOpSystem;
  return op;
}

// An overlay takes its layers from its own target: first mounts there the directory that holds the layers, and inside
// it the lower directory, both by descriptor and checked like every path that the caller chose.
void render_layers(const ViewEntry& entry, const IdentityOf& identity_of, std::vector<RootOp>& ops) {
  ops.push_back({.kind = OpKind::kBind,
                 .target = entry.target.substr(1),
                 .source = entry.state,
                 .flags = wire::kOpNoDevices | wire::kOpBeneath,
                 .identity = identity_of(entry.state)});
  ops.push_back({.kind = OpKind::kBind,
                 .target = entry.target.substr(1) + "/lower",
                 .source = entry.source,
                 .flags = wire::kOpNoDevices | wire::kOpReadOnly | wire::kOpBeneath,
                 .identity = identity_of(entry.source)});
}

}  // namespace

std::vector<RootOp> root_ops(std::span<const ViewEntry> view, const IdentityOf& identity_of) {
  std::vector<RootOp> ops;
  ops.reserve(view.size());
  for (const ViewEntry& entry : view) {
    if (entry.kind == ViewKind::kOverlay) render_layers(entry, identity_of, ops);
    ops.push_back(render_entry(entry, identity_of));
  }
  return ops;
}

}  // namespace sallyport::spawn
