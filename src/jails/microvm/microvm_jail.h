// A virtual machine with a kernel of its own, inside the native jail: a tool that escapes from the guest is still in a
// jail (ADR 0105).
#pragma once

#include <chrono>
#include <mutex>
#include <span>
#include <string_view>

#include "core/policy/never_given.h"
#include "jails/microvm/kernel.h"
#include "jails/microvm/machine.h"
#include "sallyport/jail_port.h"

namespace sallyport::microvm {

struct Options {
  JailKind kind = kMicrovmJail;
  Accelerator accelerator = Accelerator::kKvm;
  KernelPlaces kernels{};
  // From QEMU's start to the tool's. A guest that sends nothing for so long hangs.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  // Tests only: process 1 for the guest instead of our init, borrowed. It can only fail.
  std::string_view init{};
};

class MicrovmJail final : public Jail {
 public:
  // `around` is where QEMU runs; it outlives this jail.
  MicrovmJail(Jail& around, Options options) : around_(around), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return options_.kind.name(); }
  [[nodiscard]] bool starts_slowly() const override { return options_.accelerator == Accelerator::kTcg; }
  [[nodiscard]] LayerSupport layers() const override { return around_.layers(); }
  // In the guest, files do not have the host's identities; and the guest's processor time is not the tool's alone.
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kMicrovm>; }
  void expect_run() override { around_.expect_run(); }
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

 private:
  [[nodiscard]] Status processor_works() const;

  Jail& around_;
  const Options options_;
  std::once_flag swept_;
};

}  // namespace sallyport::microvm
