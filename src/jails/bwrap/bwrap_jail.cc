#include "jails/bwrap/bwrap_jail.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "core/errors.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "os/host_switches.h"
#include "os/memfd.h"
#include "os/openat2.h"
#include "os/place.h"
#include "spawn/owner/helper_image.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::bwrap {
namespace {

class BwrapRun final : public StagedRun {
 public:
  BwrapRun(const Plan& plan, Executable wrapper, spawn::LaunchSpec launch, std::vector<UniqueFd> passed,
           LandlockReach reach, spawn::JailSupply& supply)
      : plan_(plan),
        wrapper_(std::move(wrapper)),
        launch_(std::move(launch)),
        passed_(std::move(passed)),
        reach_(reach),
        supply_(supply) {}

  [[nodiscard]] std::vector<std::string> describe() const override { return launch_.argv; }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override { return jail_env(plan); }
  [[nodiscard]] std::vector<Established> would_establish() const override { return jail_establishes(plan_, reach_); }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return jail_establishes(plan_, reach_, facts);
  }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    return spawn::start_run(supply_, launch_, streams);
  }

 private:
  const Plan& plan_;
  const Executable wrapper_;  // borrowed by `launch_`
  const spawn::LaunchSpec launch_;
  const std::vector<UniqueFd> passed_;  // likewise
  const LandlockReach reach_;
  spawn::JailSupply& supply_;
};

Result<UniqueFd> materialise(const PassedFd& passed, const spawn::LaunchSpec& inner) {
  switch (passed.kind) {
    case PassedFd::Kind::kPath:
      return open_exactly(passed.text, O_PATH);
    case PassedFd::Kind::kFile:
      return open_exactly(passed.text, O_RDONLY | O_NOCTTY | O_NONBLOCK);
    case PassedFd::Kind::kInit:
      return sealed_memfd("sallyport-init", spawn::helper_image());
    case PassedFd::Kind::kInnerImage:
      return sealed_memfd("sallyport-launch", spawn::encode(inner));
    case PassedFd::Kind::kBytes:
      break;
  }
  return sealed_memfd("sallyport-data", passed.text);
}

bool of_cores(const ResourceLimit& limit) { return limit.resource == RLIMIT_CORE; }

}  // namespace

Status BwrapJail::usable() {
  const auto off = user_namespaces_off(read_host_switches(), ::geteuid());
  // bwrap's own AppArmor profile may let it do what we may not; no profile overrides the other switches.
  if (off && !off->by_apparmor) {
    return fail(jail_unavailable(JailKind::kBwrap, "it cannot be built without user namespaces", off->advice));
  }
  if (find_jail_obstacle() == JailObstacle::kNone) return {};
  return fail(jail_unavailable(JailKind::kBwrap, "this container forbids namespaces or covers parts of /proc",
                               advice_for(recognise_place())));
}

Result<std::unique_ptr<StagedRun>> BwrapJail::stage(const StageRequest& request) {
  const BinaryIdentity* const executed = TRY(file_of_host(request.executable, JailKind::kBwrap));
  if (!request.plan.no_exec.empty()) {
    return fail(
        invalid_request("no_exec", "bwrap has no option for it", "use the native jail, or leave `no_exec` out"));
  }
  Executable wrapper = TRY(request.host.pin_wrapper("bwrap"));
  const HostView& view = *TRY(request.host.view());
  const Inputs rendering{.argv = request.executable.argv_for(request.plan),
                         .exe = *executed,
                         .view = view.entries,
                         .identity_of = [&view](const std::string& path) { return view.identity_of(path); }};
  // bwrap and our init inside it live in the run's cgroup too, and must not cost the tool its budget.
  HeldLimits limits = TRY(request.host.hold_limits({.own_processes = 2}));
  spawn::LaunchSpec inner = render_inner(request.plan, rendering);
  // bwrap itself gets the limit on core files; our init inside sets the other limits.
  inner.limits = limits.rlimits;
  std::erase_if(inner.limits, of_cores);
  inner.report_tree = limits.watch_memory;
  inner.fail_at_for_tests = fault_;
  Command command = render(request.plan, rendering);
  spawn::LaunchSpec launch;
  std::vector<UniqueFd> passed;
  for (const PassedFd& one : command.passed) {
    Result<UniqueFd> fd = materialise(one, inner);
    // The first run makes a workspace's copy; explain needs only a number to show for it.
    const bool stands_in = !fd && request.purpose == Purpose::kExplain && one.kind == PassedFd::Kind::kPath;
    passed.push_back(TRY(stands_in ? sealed_memfd("sallyport-none", "") : std::move(fd)));
    launch.passed_fds.push_back(passed.back().get());
  }
  launch.argv = std::move(command.argv);
  // Where only bwrap may make namespaces, a run without hosts gets no names of refused hosts.
  const bool needs_network = !request.plan.allowed_hosts.empty();
  if (needs_network || !user_namespaces_off(read_host_switches(), ::geteuid())) {
    launch.network = *TRY(request.host.network());
    if (!needs_network) launch.with_network = std::move(command.with_network);
  }
  launch.place = spawn::NoJailPlace{.exe_fd = wrapper.file.get(), .cwd_fd = request.cwd, .is_wrapper = true};
  launch.run_as = request.plan.run_as;
  launch.cgroup_procs_fds = std::move(limits.cgroup_procs);
  launch.limits = std::move(limits.rlimits);
  std::erase_if(launch.limits, std::not_fn(of_cores));  // our init sets the others
  // The network is made outside, not inside.
  if (fault_ == SetupStage::kNetwork) launch.fail_at_for_tests = SetupStage::kNetwork;
  return std::make_unique<BwrapRun>(request.plan, std::move(wrapper), std::move(launch), std::move(passed),
                                    landlock_reach(view.entries), supply_);
}

}  // namespace sallyport::bwrap
