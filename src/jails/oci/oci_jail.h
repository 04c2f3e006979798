// The jail built by an OCI runtime, for hosts whose operators trust one to make containers (DESIGN.md, "The jails").
#pragma once

#include <mutex>
#include <span>
#include <string>

#include "core/policy/never_given.h"
#include "jails/oci/oci.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::oci {

class OciJail final : public Jail {
 public:
  explicit OciJail(spawn::JailSupply& supply) : supply_(supply) {}

  [[nodiscard]] std::string_view name() const override { return kOciJail.name(); }
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kOci>; }
  [[nodiscard]] LayerSupport layers() const override { return LayerSupport::kBind; }
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

  // Tests only: as NativeJail's.
  void fail_at_for_tests(SetupStage stage) { fault_ = stage; }

 private:
  spawn::JailSupply& supply_;
  std::once_flag swept_;
  SetupStage fault_ = SetupStage::kNone;
};

}  // namespace sallyport::oci
