// The steps between a request and the tool's first instruction. With an errno, a step says why a tool never started.
// Its name for people and for JSON is stage_name(). Code without libc reads it too: plain values only. Callers meet it
// in SetupFailed (error.h). The rule: docs/contract.md, C20.
#pragma once

#include <cstdint>

namespace sallyport {

enum class SetupStage : std::uint32_t {
  kNone,
  kReceive,
  kJail,  // a jail that we cannot inspect: its own program, daemon or machine
  kClone,
  kParentAlive,
  kUserMap,
  kPrivateMounts,
  kNewRoot,
  kOpenSource,
  kSourceIdentity,
  kMakeDirectory,
  kMakeFile,
  kMakeSymlink,
  kBind,
  kTmpfs,
  kProc,
  kDevpts,
  kMqueue,
  kMask,
  kOverlay,
  kReadOnlyRoot,
  kPivot,
  kLoopback,
  kNetwork,
  kHostname,
  kSession,
  kCgroup,
  kCgroupNamespace,
  kLimits,
  kStdio,
  kWorkingDirectory,
  kNoNewPrivs,
  kSpeculation,
  kLandlock,
  kCapabilities,
  kSeccomp,
  kInitLocks,
  kExecIdentity,
  kExec,
  kCount,
};

}  // namespace sallyport
