#include "jails/none/none.h"

#include <utility>

#include "core/errors.h"
#include "core/view/linux_jail.h"
#include "os/place.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::none {
namespace {

class UnjailedRun final : public StagedRun {
 public:
  UnjailedRun(spawn::LaunchSpec launch, spawn::JailSupply& supply) : launch_(std::move(launch)), supply_(supply) {}

  // What every run through the gate has, jailed or not.
  [[nodiscard]] std::vector<Established> would_establish() const override {
    return {{Guarantee::kExecAllowlisted, Mechanism::kGate},
            {Guarantee::kExecPinned, Mechanism::kDescriptor},
            {Guarantee::kEnvStripped, Mechanism::kGate},
            {Guarantee::kProcNoNewPrivs, Mechanism::kPrctl},
            {Guarantee::kProcDiesWithParent, Mechanism::kSubreaper},
            {Guarantee::kLimitWall, Mechanism::kSupervisor},
            {Guarantee::kLimitOutput, Mechanism::kSupervisor}};
  }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    return spawn::start_run(supply_, launch_, streams);
  }

 private:
  const spawn::LaunchSpec launch_;
  spawn::JailSupply& supply_;
};

Status check(const Plan& plan) {
  if (plan.limits.disk) {
    return fail(guarantee_unavailable(Guarantee::kLimitDisk, "without a jail there is no scratch to bound",
                                      "choose a jail, or leave the disk limit out"));
  }
  if (!plan.allowed_hosts.empty()) {
    return fail(guarantee_unavailable(Guarantee::kNetEgressAllowlist, "without a jail every host can be reached",
                                      "choose a jail, or allow no host"));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<StagedRun>> NoJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  TRY(check(plan));
  TRY(check_own_processes_shown(JailKind::kNone));
  static_cast<void>(TRY(file_of_host(request.executable, JailKind::kNone)));
  spawn::LaunchSpec launch;
  launch.argv = request.executable.argv_for(plan);
  launch.env = env_texts(plan.env);
  launch.place = spawn::NoJailPlace{.exe_fd = request.executable.file.get(), .cwd_fd = request.cwd};
  launch.hold(TRY(request.host.hold_limits({.counted_apart = false})));
  return std::make_unique<UnjailedRun>(std::move(launch), supply_);
}

}  // namespace sallyport::none
