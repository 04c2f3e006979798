// The jails behind the port (C19, C21). Make one where the program is put together; hold it as a SubprocessJail&.
//
//   NativeAdapter jail(*gate);
//   validate(jail, repo);            // void validate(SubprocessJail&, …)
//
// Each borrows the gate, which must outlive it, and adds nothing to what the gate does: one kind of jail, never another.
#pragma once

#include "sallyport/gate.h"
#include "sallyport/jail.h"

namespace sallyport {

// The first that works on this host: native, then bwrap; an error when neither does.
class AutoJail final : public SubprocessJail {
 public:
  explicit AutoJail(Gate& gate) : gate_(gate) {}
  using SubprocessJail::run;
  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, std::stop_token stop) override;

 private:
  Gate& gate_;
};

// Linux namespaces, seccomp and Landlock, without any program to install.
class NativeAdapter final : public SubprocessJail {
 public:
  explicit NativeAdapter(Gate& gate) : gate_(gate) {}
  using SubprocessJail::run;
  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, std::stop_token stop) override;

 private:
  Gate& gate_;
};

// The same view and the same locks, with the namespaces built by bubblewrap.
class BwrapAdapter final : public SubprocessJail {
 public:
  explicit BwrapAdapter(Gate& gate) : gate_(gate) {}
  using SubprocessJail::run;
  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& spec, std::stop_token stop) override;

 private:
  Gate& gate_;
};

}  // namespace sallyport
