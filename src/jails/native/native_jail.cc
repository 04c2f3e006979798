#include "jails/native/native_jail.h"

#include <unistd.h>

#include <utility>

#include "core/errors.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "os/host_switches.h"
#include "os/place.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::native {
namespace {

class NativeRun final : public StagedRun {
 public:
  NativeRun(const Plan& plan, spawn::LaunchSpec launch, LandlockReach reach, bool starts_next,
            spawn::JailSupply& supply)
      : plan_(plan), starts_next_(starts_next), launch_(std::move(launch)), reach_(reach), supply_(supply) {}

  [[nodiscard]] std::vector<std::string> describe() const override {
    std::vector<std::string> steps;
    for (const spawn::RootOp& op : std::get<spawn::JailPlace>(launch_.place).root_ops) {
      steps.push_back(spawn::describe(op));
    }
    return steps;
  }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override { return jail_env(plan); }
  [[nodiscard]] std::vector<Established> would_establish() const override { return jail_establishes(plan_, reach_); }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return jail_establishes(plan_, reach_, facts);
  }
  [[nodiscard]] bool has_null_device() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    std::unique_ptr<LiveRun> run = TRY(spawn::start_run(supply_, launch_, streams));
    if (starts_next_) static_cast<void>(supply_.start_ahead());  // if it fails, the next run starts it
    return run;
  }
  [[nodiscard]] Status warm_up() override { return supply_.keep_warm(launch_); }

 private:
  const Plan& plan_;
  const bool starts_next_;
  const spawn::LaunchSpec launch_;
  const LandlockReach reach_;
  spawn::JailSupply& supply_;
};

}  // namespace

void NativeJail::expect_run() {
  if (options_.starts_jail_ahead) static_cast<void>(supply_.start_ahead());  // if it fails, the run reports why
}

Status NativeJail::usable() {
  const auto off = user_namespaces_off(read_host_switches(), ::geteuid());
  if (off) return fail(jail_unavailable(JailKind::kNative, "it cannot be built without user namespaces", off->advice));
  switch (find_jail_obstacle()) {
    case JailObstacle::kNone:
      return {};
    case JailObstacle::kFilter:
      return fail(jail_unavailable(JailKind::kNative, "a seccomp filter forbids namespaces here",
                                   advice_for(recognise_place())));
    case JailObstacle::kMaskedProc:
      break;
  }
  return fail(jail_unavailable(JailKind::kNative, "parts of /proc are covered here, so no fresh one can be mounted",
                               advice_for(recognise_place())));
}

Result<std::unique_ptr<StagedRun>> NativeJail::stage(const StageRequest& request) {
  const BinaryIdentity* const executed = TRY(file_of_host(request.executable, JailKind::kNative));
  const HostView& view = *TRY(request.host.view());
  spawn::LaunchSpec launch =
      render(request.plan, {.argv = request.executable.argv_for(request.plan),
                            .exe = *executed,
                            .view = view.entries,
                            .identity_of = [&view](const std::string& path) { return view.identity_of(path); }});
  launch.network = *TRY(request.host.network());
  launch.run_as = request.plan.run_as;
  launch.fail_at_for_tests = fault_;
  launch.hold(TRY(request.host.hold_limits({})));
  return std::make_unique<NativeRun>(request.plan, std::move(launch), landlock_reach(view.entries),
                                     request.another_follows && options_.starts_jail_ahead, supply_);
}

}  // namespace sallyport::native
