// The jail that podman or docker builds (C21, C40): a hardened run of an image by its digest, our init inside. ADR 0100.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/policy/never_given.h"
#include "jails/container/image.h"
#include "sallyport/container.h"
#include "sallyport/jail_port.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::container {

class ContainerJail final : public Jail {
 public:
  ContainerJail(spawn::JailSupply& supply, ContainerOptions options) : supply_(supply), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return kContainerJail.name(); }
  // No engine can mount a repo without its device nodes, so writes are not confined.
  [[nodiscard]] std::span<const Guarantee> never_gives() const override { return kNeverGivenBy<Givers::kContainer>; }
  [[nodiscard]] LayerSupport layers() const override { return LayerSupport::kBind; }
  [[nodiscard]] Status usable() override;
  [[nodiscard]] Result<std::shared_ptr<const Executable>> resolve(const Plan& plan, CallHost& host) override;
  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(const StageRequest& request) override;

  // Tests only: as NativeJail's.
  void fail_at_for_tests(SetupStage stage) { fault_ = stage; }

 private:
  [[nodiscard]] Result<Engine> engine(CallHost& host);
  // Looks the name up once: later it may mean another image.
  [[nodiscard]] Result<Image> image(CallHost& host);
  void sweep(const Engine& engine);

  spawn::JailSupply& supply_;
  const ContainerOptions options_;
  std::mutex mutex_;
  std::optional<Image> image_;
  std::once_flag swept_;
  SetupStage fault_ = SetupStage::kNone;
};

}  // namespace sallyport::container
