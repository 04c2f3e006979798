// The jail for hosts where no program may make namespaces: Landlock, seccomp, no privileges, and a private directory.
#pragma once

#include <mutex>
#include <span>

#include "core/policy/never_given.h"
#include "jails/landlock/landlock.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::landlock {

class LandlockJail final : public Jail {
 public:
  explicit LandlockJail(spawn::JailSupply& supply) : supply_(supply) {}

  [[nodiscard]] std::string_view name() const override { return JailKind::kLandlock.name(); }
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kLandlock>; }
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

  // Tests only: as NativeJail's.
  void fail_at_for_tests(SetupStage stage) { fault_ = stage; }

 private:
  spawn::JailSupply& supply_;
  std::once_flag swept_;
  SetupStage fault_ = SetupStage::kNone;
};

}  // namespace sallyport::landlock
