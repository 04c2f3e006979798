// The jail built by bubblewrap, for hosts where only a setuid bwrap, or one with a security profile, may make
// namespaces.
#pragma once

#include <span>
#include <string>

#include "core/policy/never_given.h"
#include "jails/bwrap/bwrap.h"
#include "sallyport/event_name.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::bwrap {

class BwrapJail final : public Jail {
 public:
  explicit BwrapJail(spawn::JailSupply& supply) : supply_(supply) {}

  [[nodiscard]] std::string_view name() const override { return JailKind::kBwrap.name(); }
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kBwrap>; }
  [[nodiscard]] std::string_view event_name() const override { return event_name::kBwrapWrapped; }
  [[nodiscard]] LayerSupport layers() const override { return LayerSupport::kBind; }
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

  // Tests only: as NativeJail's.
  void fail_at_for_tests(SetupStage stage) { fault_ = stage; }

 private:
  spawn::JailSupply& supply_;
  SetupStage fault_ = SetupStage::kNone;
};

}  // namespace sallyport::bwrap
