// Every jail of this source tree, made once for a gate. The only place of the gate that names them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gate/egress_session.h"
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
        native_(
            add<native::NativeJail>(supply_, native::Options{.starts_jail_ahead = runs == spawn::SupplyFor::kOneRun})) {
    add<bwrap::BwrapJail>(supply_);
    add<landlock::LandlockJail>(supply_);
    add<oci::OciJail>(supply_);
    add<oci::GvisorJail>(supply_);
    add<microvm::MicrovmJail>(native_, microvm::Options{});
    add<microvm::MicrovmJail>(native_, microvm::Options{.kind = kMicrovmTcgJail,
                                                        .accelerator = microvm::Accelerator::kTcg,
                                                        .patience = std::chrono::minutes(5)});
    add<container::ContainerJail>(supply_, std::move(container));
    add<sandbox_exec::SandboxExecJail>();
    add<none::NoJail>(supply_);
  }
  BuiltinJails(const BuiltinJails&) = delete;  // the jails refer to the supply
  BuiltinJails& operator=(const BuiltinJails&) = delete;
  BuiltinJails(BuiltinJails&&) = delete;
  BuiltinJails& operator=(BuiltinJails&&) = delete;
  ~BuiltinJails() = default;

  // One more, which can be chosen by its name from then on.
  template <class OneJail, class... Args>
  OneJail& add(Args&&... args) {
    auto jail = std::make_unique<OneJail>(std::forward<Args>(args)...);
    OneJail& added = *jail;
    if constexpr (requires { added.fail_at_for_tests(SetupStage::kNone); }) {
      faults_for_tests_.emplace_back([&added](SetupStage stage) { added.fail_at_for_tests(stage); });
    }
    jails_.push_back(std::move(jail));
    return added;
  }

  [[nodiscard]] std::vector<Jail*> all() const {
    std::vector<Jail*> jails;
    for (const std::unique_ptr<Jail>& jail : jails_) jails.push_back(jail.get());
    return jails;
  }
  [[nodiscard]] spawn::JailSupply& supply() { return supply_; }
  [[nodiscard]] SharedHostRoot& root() { return root_; }

  // Tests only: every start of the jails that are named here fails at that step. It can only deny.
  void fail_at_for_tests(SetupStage stage) {
    for (const auto& fail_one : faults_for_tests_) fail_one(stage);
  }

 private:
  // What all jails of our own share in every call; and the network of most.
  [[nodiscard]] spawn::JailShape base() {
    spawn::JailShape shape = native::render_base(root_.get());
    shape.network = network_without_hosts();
    shape.fail_at_for_tests = native_.fault_for_tests();
    return shape;
  }

  SharedHostRoot root_;
  spawn::JailSupply supply_;
  std::vector<std::function<void(SetupStage)>> faults_for_tests_;
  std::vector<std::unique_ptr<Jail>> jails_;
  native::NativeJail& native_;
};

}  // namespace sallyport
