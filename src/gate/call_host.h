// What the gate does for a jail during one call: programs found and pinned, the view, the limits, the network's shape.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/view/host_view.h"
#include "gate/prepare.h"
#include "gate/resources.h"
#include "locate/hash_cache.h"
#include "os/host_root.h"
#include "sallyport/gate.h"
#include "sallyport/jail_port.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport {

class EngineCallHost final : public CallHost {
 public:
  EngineCallHost(const GateConfig& config, HashCache& hashes, SharedHostRoot& root, Prepared& prepared, Purpose purpose)
      : config_(config), hashes_(hashes), root_(root), prepared_(prepared), purpose_(purpose) {}

  [[nodiscard]] Result<std::shared_ptr<const Executable>> pin_tool() override;
  [[nodiscard]] Result<Executable> pin_wrapper(std::string_view name) override;
  [[nodiscard]] Result<HeldLimits> hold_limits(const LimitsWanted& wanted) override;
  [[nodiscard]] Result<const HostView*> view() override;
  [[nodiscard]] Result<const spawn::NetworkSpec*> network() override;

  // What hold_limits() has made, and what the view does not give. Empty when the jail did not ask for it.
  [[nodiscard]] const Resources& resources() const { return resources_; }
  [[nodiscard]] std::span<const LostGuarantee> lost() const {
    if (!view_) return {};
    return view_->lost;
  }

 private:
  const GateConfig& config_;
  HashCache& hashes_;
  SharedHostRoot& root_;
  Prepared& prepared_;
  const Purpose purpose_;
  std::optional<HostView> view_;
  std::optional<spawn::NetworkSpec> network_;
  Resources resources_;
};

}  // namespace sallyport
