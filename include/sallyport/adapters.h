// A gate and one of its jails as the port that callers hold (C19, C21). Construct one in the composition root; pass it
// as a SubprocessJail&.
//
//   NativeAdapter native(*gate);
//   JailAdapter mine(*gate, JailKind("mine"));   // a jail of GateConfig::own_jails
//   SubprocessJail& jail = prefers_mine ? mine : static_cast<SubprocessJail&>(native);
//
// Each borrows the gate, which must outlive it, and adds nothing to what the gate does; it uses one kind of jail, never
// another. To bring your own jail, implement sallyport/jail_port.h, not SubprocessJail: only a jail below the gate gets
// its admission, hardening, required guarantees and receipt.
// Errors: as in sallyport/jail.h; JailUnavailable when this one kind does not work here. The rules: docs/contract.md.
#pragma once

#include <stop_token>
#include <utility>

#include "sallyport/gate.h"
#include "sallyport/jail.h"

namespace sallyport {

class JailAdapter : public SubprocessJail {
 public:
  JailAdapter(Gate& gate, JailKind kind) : gate_(gate), kind_(kind) {}
  using SubprocessJail::run;
  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, std::stop_token stop) override {
    return gate_.run(spec, kind_, std::move(stop));
  }

 private:
  Gate& gate_;
  const JailKind kind_;
};

// The first of GateConfig::auto_jails that works on this host; an error when none does.
class AutoJail final : public JailAdapter {
 public:
  explicit AutoJail(Gate& gate) : JailAdapter(gate, JailKind::kAuto) {}
};

// Linux namespaces, seccomp and Landlock; needs no other program.
class NativeAdapter final : public JailAdapter {
 public:
  explicit NativeAdapter(Gate& gate) : JailAdapter(gate, JailKind::kNative) {}
};

// The same view and the same locks, with the namespaces built by bubblewrap.
class BwrapAdapter final : public JailAdapter {
 public:
  explicit BwrapAdapter(Gate& gate) : JailAdapter(gate, JailKind::kBwrap) {}
};

// A sandbox profile of macOS. Needs macOS, and has never run there yet.
class SandboxExecAdapter final : public JailAdapter {
 public:
  explicit SandboxExecAdapter(Gate& gate) : JailAdapter(gate, JailKind::kSandboxExec) {}
};

}  // namespace sallyport
