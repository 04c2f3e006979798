#include "jails/oci/gvisor_jail.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "core/errors.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "jails/oci/bundle.h"
#include "os/host_switches.h"
#include "spawn/owner/carry_hosts.h"
#include "spawn/owner/framed_start.h"
#include "spawn/owner/helper_image.h"

namespace sallyport::oci {
namespace {

std::vector<Established> establishes(const Plan& plan, const std::optional<RunFacts>& facts) {
  std::vector<Established> established = jail_establishes(plan, LandlockReach::kSystem);
  hold_by_carrying(established, facts);
  established.push_back({Guarantee::kKernelSeparate, Mechanism::kGuestKernel});
  return established;
}

class GvisorRun final : public StagedRun {
 public:
  GvisorRun(const Plan& plan, Executable runtime, const spawn::LaunchSpec& launch, spawn::LaunchSpec inner,
            std::string config, std::optional<ScratchDir> bundle, spawn::JailSupply& supply)
      : plan_(plan),
        runtime_(std::move(runtime)),
        command_(launch.argv),
        config_(std::move(config)),
        bundle_(std::move(bundle)),
        start_(launch, std::move(inner)),
        supply_(supply) {}

  [[nodiscard]] std::vector<std::string> describe() const override { return description(command_, config_); }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override { return jail_env(plan); }
  [[nodiscard]] std::vector<Established> would_establish() const override { return establishes(plan_, std::nullopt); }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return establishes(plan_, facts);
  }
  [[nodiscard]] bool has_null_device() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    if (!bundle_) return fail(jail_unavailable(kGvisorJail, "this run was only explained"));
    return start_.start(supply_, streams);
  }

 private:
  const Plan& plan_;
  const Executable runtime_;  // borrowed by `start_`
  const std::vector<std::string> command_;
  const std::string config_;
  const std::optional<ScratchDir> bundle_;
  spawn::FramedStart start_;
  spawn::JailSupply& supply_;
};

}  // namespace

Status GvisorJail::usable() {
  const auto off = user_namespaces_off(read_host_switches(), ::geteuid());
  if (!off) return {};
  return fail(jail_unavailable(kGvisorJail, "it cannot be built without user namespaces", off->advice));
}

Result<std::unique_ptr<StagedRun>> GvisorJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  const BinaryIdentity* const executed = TRY(file_of_host(request.executable, kGvisorJail));
  if (!plan.hidden.empty()) {
    return fail(invalid_request("hidden", "gVisor hides nothing of what is shown", "use another jail"));
  }
  Executable runtime = TRY(request.host.pin_wrapper("runsc"));
  const HostView& view = *TRY(request.host.view());
  TRY(check_names(view.entries));
  const Inputs rendering{.runtime = Runtime::kRunsc,
                         .argv = request.executable.argv_for(plan),
                         .exe = *executed,
                         .view = view.entries,
                         .identity_of = {},
                         .outside = outside_of(plan),
                         .umask = own_umask()};
  std::string config = render_config(plan, rendering);
  std::optional<ScratchDir> bundle;
  spawn::LaunchSpec inner = render_inner(plan, rendering);
  inner.network = TRY(spawn::carried_network(plan));
  inner.fail_at_for_tests = fault_;
  if (request.purpose == Purpose::kRun) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_scratch(kScratchRoot)); });
    bundle = TRY(make_bundle({.config = config,
                              .root = render_root(view.entries),
                              .init = std::string(spawn::helper_image()),
                              .owner = plan.run_as}));
  }
  spawn::LaunchSpec launch;
  launch.argv = render_command(rendering, bundle ? bundle->path().string() : kExplainedDirectory);
  launch.env = {"PATH=/usr/bin:/bin"};
  launch.place = spawn::NoJailPlace{.exe_fd = runtime.file.get(),
                                    .cwd_fd = request.cwd,
                                    .is_wrapper = true,
                                    .is_framed = true,
                                    .hands_connections = inner.network.carried.count > 0};
  launch.run_as = plan.run_as;
  return std::make_unique<GvisorRun>(plan, std::move(runtime), launch, std::move(inner), std::move(config),
                                     std::move(bundle), supply_);
}

}  // namespace sallyport::oci
