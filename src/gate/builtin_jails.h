// Every jail of this source tree, made once for a gate. The only place of the gate that names them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "jails/bwrap/bwrap_jail.h"
#include "jails/container/container_jail.h"
#include "jails/landlock/landlock_jail.h"
#include "jails/microvm/microvm_jail.h"
#include "jails/native/native_jail.h"
#include "jails/none/none.h"
#include "jails/oci/gvisor_jail.h"
#include "jails/oci/oci_jail.h"
#include "jails/sandbox_exec/sandbox_exec_jail.h"
#include "os/host_root.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport {

class BuiltinJails {
 public:
  BuiltinJails(std::size_t warm_jails, spawn::SupplyFor runs, ContainerOptions container)
      : supply_({.runs = runs, .base = [this] { return base(); }, .warm_jails = warm_jails}),
        native_(supply_, {.starts_jail_ahead = runs == spawn::SupplyFor::kOneRun}),
        container_(supply_, std::move(container)) {}

  [[nodiscard]] std::vector<Jail*> all() {
    return {&native_,  &bwrap_,       &landlock_,  &oci_,          &gvisor_,
            &microvm_, &microvm_tcg_, &container_, &sandbox_exec_, &none_};
  }
  [[nodiscard]] spawn::JailSupply& supply() { return supply_; }
  [[nodiscard]] SharedHostRoot& root() { return root_; }

  // Tests only: every jailed start fails at that step.
  void fail_at_for_tests(SetupStage stage) {
    native_.fail_at_for_tests(stage);
    bwrap_.fail_at_for_tests(stage);
    landlock_.fail_at_for_tests(stage);
    oci_.fail_at_for_tests(stage);
    gvisor_.fail_at_for_tests(stage);
    container_.fail_at_for_tests(stage);
  }

 private:
  // What all jails of our own share in every call.
  [[nodiscard]] spawn::JailShape base() {
    spawn::JailShape shape = native::render_base(root_.get());
    shape.fail_at_for_tests = native_.fault_for_tests();
    return shape;
  }

  SharedHostRoot root_;
  spawn::JailSupply supply_;
  native::NativeJail native_;
  bwrap::BwrapJail bwrap_{supply_};
  landlock::LandlockJail landlock_{supply_};
  oci::OciJail oci_{supply_};
  oci::GvisorJail gvisor_{supply_};
  microvm::MicrovmJail microvm_{native_, {}};
  microvm::MicrovmJail microvm_tcg_{
      native_,
      {.name = microvm::kTcgName, .accelerator = microvm::Accelerator::kTcg, .patience = std::chrono::minutes(5)}};
  container::ContainerJail container_;
  sandbox_exec::SandboxExecJail sandbox_exec_;
  none::NoJail none_{supply_};
};

}  // namespace sallyport
