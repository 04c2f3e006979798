#include "jails/oci/oci_jail.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "core/errors.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "jails/oci/bundle.h"
#include "os/file.h"
#include "os/host_switches.h"
#include "os/memfd.h"
#include "os/place.h"
#include "spawn/owner/helper_image.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::oci {
namespace {

// What a run needs besides its command; empty for explain.
struct Made {
  ScratchDir bundle;
  UniqueFd image;  // for our init inside
  UniqueFd null_device;
};

class OciRun final : public StagedRun {
 public:
  OciRun(const Plan& plan, Executable runtime, spawn::LaunchSpec launch, std::string config, std::vector<int> cgroups,
         std::optional<Made> made, LandlockReach reach, spawn::JailSupply& supply)
      : plan_(plan),
        runtime_(std::move(runtime)),
        launch_(std::move(launch)),
        config_(std::move(config)),
        cgroups_(std::move(cgroups)),
        made_(std::move(made)),
        reach_(reach),
        supply_(supply) {}

  [[nodiscard]] std::vector<std::string> describe() const override { return description(launch_.argv, config_); }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override { return jail_env(plan); }
  [[nodiscard]] std::vector<Established> would_establish() const override { return jail_establishes(plan_, reach_); }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return jail_establishes(plan_, reach_, facts);
  }

  // The tool's streams go to our init. The runtime itself reads nothing, and prints only why it failed.
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    if (!made_) return fail(jail_unavailable(kOciJail, "this run was only explained"));
    launch_.passed_fds = {streams.in, streams.out, streams.err};
    launch_.passed_fds.insert(launch_.passed_fds.end(), cgroups_.begin(), cgroups_.end());
    launch_.passed_fds.push_back(made_->image.get());
    const int null_device = made_->null_device.get();
    return spawn::start_run(supply_, launch_, {.in = null_device, .out = null_device, .err = streams.err});
  }

 private:
  const Plan& plan_;
  const Executable runtime_;  // borrowed by `launch_`
  spawn::LaunchSpec launch_;
  const std::string config_;
  const std::vector<int> cgroups_;
  const std::optional<Made> made_;
  const LandlockReach reach_;
  spawn::JailSupply& supply_;
};

}  // namespace

Status OciJail::usable() {
  if (const auto off = user_namespaces_off(read_host_switches(), ::geteuid())) {
    return fail(jail_unavailable(kOciJail, "it cannot be built without user namespaces", off->advice));
  }
  if (find_jail_obstacle() == JailObstacle::kNone) return {};
  return fail(jail_unavailable(kOciJail, "this container forbids namespaces or covers parts of /proc",
                               advice_for(recognise_place())));
}

Result<std::unique_ptr<StagedRun>> OciJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  const BinaryIdentity* const executed = TRY(file_of_host(request.executable, kOciJail));
  Executable runtime = TRY(request.host.pin_wrapper("runc"));
  const HostView& view = *TRY(request.host.view());
  TRY(check_names(view.entries));
  HeldLimits limits = TRY(request.host.hold_limits({}));
  const Inputs rendering{.argv = request.executable.argv_for(plan),
                         .exe = *executed,
                         .view = view.entries,
                         .identity_of = [&view](const std::string& path) { return view.identity_of(path); },
                         .outside = outside_of(plan),
                         .umask = own_umask(),
                         .cgroup_count = static_cast<std::uint32_t>(limits.cgroup_procs.size())};
  std::string config = render_config(plan, rendering);
  std::optional<Made> made;
  if (request.purpose == Purpose::kRun) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_scratch(kScratchRoot)); });
    spawn::LaunchSpec inner = render_inner(plan, rendering);
    inner.limits = std::move(limits.rlimits);
    inner.cgroup_procs_fds = limits.cgroup_procs;
    inner.report_tree = limits.watch_memory;
    inner.fail_at_for_tests = fault_;
    made.emplace(Made{.bundle = TRY(make_bundle({.config = config,
                                                 .root = render_root(view.entries),
                                                 .init = std::string(spawn::helper_image()),
                                                 .owner = plan.run_as})),
                      .image = TRY(sealed_memfd("sallyport-launch", spawn::encode(inner))),
                      .null_device = TRY(open_path("/dev/null", O_RDWR))});
  }
  spawn::LaunchSpec launch;
  launch.argv = render_command(rendering, made ? made->bundle.path().string() : kExplainedDirectory);
  launch.network = *TRY(request.host.network());
  launch.place =
      spawn::NoJailPlace{.exe_fd = runtime.file.get(), .cwd_fd = request.cwd, .is_wrapper = true, .is_runtime = true};
  launch.run_as = plan.run_as;
  // The network is made outside, not inside.
  if (fault_ == SetupStage::kNetwork) launch.fail_at_for_tests = SetupStage::kNetwork;
  return std::make_unique<OciRun>(plan, std::move(runtime), std::move(launch), std::move(config),
                                  std::move(limits.cgroup_procs), std::move(made), landlock_reach(view.entries),
                                  supply_);
}

}  // namespace sallyport::oci
