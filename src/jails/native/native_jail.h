// The default Linux jail: namespaces, a new root, seccomp and Landlock, with no program to install.
#pragma once

#include <span>

#include "core/policy/never_given.h"
#include "jails/native/native.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::native {

struct Options {
  // Starts the jail as soon as a call is admitted: for an owner of one run, whose supply has no helper running.
  bool starts_jail_ahead = false;
};

class NativeJail final : public Jail {
 public:
  explicit NativeJail(spawn::JailSupply& supply, Options options = {}) : supply_(supply), options_(options) {}

  [[nodiscard]] std::string_view name() const override { return JailKind::kNative.name(); }
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kNative>; }
  [[nodiscard]] LayerSupport layers() const override { return LayerSupport::kOverlay; }
  void expect_run() override;
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;
  [[nodiscard]] WarmCounts warm_counts() override { return supply_.warm_counts(); }

  // Tests only: every start fails at that step. It can only deny.
  void fail_at_for_tests(SetupStage stage) { fault_ = stage; }
  [[nodiscard]] SetupStage fault_for_tests() const { return fault_; }

 private:
  spawn::JailSupply& supply_;
  const Options options_;
  SetupStage fault_ = SetupStage::kNone;
};

}  // namespace sallyport::native
