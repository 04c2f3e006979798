// The jail built by gVisor (runsc): the tool runs on a second kernel, without a virtual machine. For callers that do
// not trust the host's kernel.
#pragma once

#include <mutex>
#include <span>
#include <string>

#include "core/policy/never_given.h"
#include "jails/oci/oci.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::oci {

class GvisorJail final : public Jail {
 public:
  explicit GvisorJail(spawn::JailSupply& supply) : supply_(supply) {}

  [[nodiscard]] std::string_view name() const override { return kGvisorJail.name(); }
  // Inside, files do not have the host's identities; its tmpfs cannot be watched from outside; its processes are not
  // processes of the host.
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kGvisor>; }
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
