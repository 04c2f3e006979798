// The gate as the library composes it: the engine over the built-in jails and those in the configuration.
#pragma once

#include <memory>

#include "gate/builtin_jails.h"
#include "gate/engine.h"

namespace sallyport {

class HostGate final : public Engine {
 public:
  [[nodiscard]] static Result<std::unique_ptr<HostGate>> open(GateConfig config,
                                                              spawn::SupplyFor runs = spawn::SupplyFor::kManyRuns);

  // See BuiltinJails and JailSupply.
  void fail_at_for_tests(SetupStage stage) { builtin_->fail_at_for_tests(stage); }
  void fail_warm_jails_at_for_tests(SetupStage stage) { builtin_->supply().fail_warm_jails_at_for_tests(stage); }
  [[nodiscard]] int helper_pid_for_tests() { return builtin_->supply().helper_pid_for_tests(); }

 private:
  [[nodiscard]] static Result<std::unique_ptr<HostGate>> compose(GateConfig& config, spawn::SupplyFor runs);
  HostGate(GateConfig config, std::optional<Error> unusable, JailSet jails, std::unique_ptr<BuiltinJails> builtin)
      : Engine(std::move(config), std::move(unusable), std::move(jails), builtin->root()),
        builtin_(std::move(builtin)) {}

  std::unique_ptr<BuiltinJails> builtin_;
};

}  // namespace sallyport
