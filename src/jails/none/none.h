// No jail: the tool runs in the caller's namespaces, with the guarantees that the gate itself gives. run_allowlisted
// uses it, and so does run_external_cli where no jail is usable (C17).
#pragma once

#include <span>
#include <vector>

#include "core/policy/never_given.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::none {

class NoJail final : public Jail {
 public:
  explicit NoJail(spawn::JailSupply& supply) : supply_(supply) {}

  [[nodiscard]] std::string_view name() const override { return JailKind::kNone.name(); }
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kNoJail>; }
  [[nodiscard]] Confinement confinement() const override { return Confinement::kNone; }
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

 private:
  spawn::JailSupply& supply_;
};

}  // namespace sallyport::none
