#include "jails/landlock/landlock_jail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "jails/landlock/device_nodes.h"
#include "os/canonical.h"
#include "os/file.h"
#include "os/openat2.h"
#include "os/place.h"
#include "os/scratch.h"
#include "spawn/owner/helper_run.h"

namespace sallyport::landlock {
namespace {

constexpr const char* kScratchRoot = "/tmp";  // where each run gets its private directory
// Stands for the private directory in the output of explain.
constexpr const char* kExplainedDirectory = "/tmp/sallyport-…";

class LandlockRun final : public StagedRun {
 public:
  LandlockRun(const Plan& plan, std::string private_dir, const std::vector<Place>& places, spawn::LaunchSpec launch,
              UniqueFd ruleset, std::optional<ScratchDir> scratch, spawn::JailSupply& supply)
      : plan_(plan),
        private_dir_(std::move(private_dir)),
        scratch_(std::move(scratch)),
        ruleset_(std::move(ruleset)),
        launch_(std::move(launch)),
        supply_(supply) {
    for (const Place& place : places) steps_.push_back(landlock::describe(place));
  }

  [[nodiscard]] std::vector<std::string> describe() const override { return steps_; }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override {
    return landlock::environment(plan, private_dir_);
  }
  [[nodiscard]] std::vector<Established> would_establish() const override { return establishes(plan_, landlock_abi()); }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    return spawn::start_run(supply_, launch_, streams);
  }

 private:
  const Plan& plan_;
  const std::string private_dir_;
  std::vector<std::string> steps_;
  std::optional<ScratchDir> scratch_;  // outlives the run; gone with this object (C16)
  UniqueFd ruleset_;                   // borrowed by `launch_`
  const spawn::LaunchSpec launch_;
  spawn::JailSupply& supply_;
};

bool is_the_same(const FileIdentity& wanted, int fd) {
  struct statx about{};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_INO, &about) != 0) return false;
  return wanted.device == ((std::uint64_t{about.stx_dev_major} << 32U) | about.stx_dev_minor) &&
         wanted.inode == about.stx_ino;
}

// Opens what the caller chose without following a symlink; it must be the file that was checked.
Result<UniqueFd> open_place(const Place& place) {
  if (!place.identity) return open_path(place.path, O_PATH);
  Result<UniqueFd> fd = open_exactly(place.path, O_PATH);
  if (!fd) {
    const auto* system = fd.error().as<SystemError>();
    return fail(setup_failed({.stage = SetupStage::kOpenSource, .error_number = system ? system->error_number : EIO}));
  }
  if (is_the_same(*place.identity, fd->get())) return fd;
  return fail(setup_failed({.stage = SetupStage::kSourceIdentity, .error_number = ESTALE}));
}

bool is_missing(const Error& error) {
  const auto* system = error.as<SystemError>();
  return system != nullptr && (system->error_number == ENOENT || system->error_number == EACCES);
}

Result<UniqueFd> ruleset_of(const std::vector<Place>& places) {
  std::vector<UniqueFd> opened;
  std::vector<LandlockRule> rules;
  for (const Place& place : places) {
    Result<UniqueFd> fd = open_place(place);
    if (!fd && place.may_be_missing && is_missing(fd.error())) continue;
    if (!fd) return fail(fd.error());
    opened.push_back(*std::move(fd));
    rules.push_back({.beneath = opened.back().get(), .is_directory = place.is_directory, .access = place.access});
  }
  return make_landlock_ruleset(rules);
}

// `owner`: the tool's user, when it is not the caller; it can pass through to its own directories, and no farther.
Result<ScratchDir> make_private(const std::optional<UserIds>& owner) {
  ScratchDir scratch = TRY(ScratchDir::create(kScratchRoot));
  if (owner && ::fchmod(scratch.fd(), 0711) != 0) {
    return fail(system_error("set the mode of", scratch.path().native(), errno));
  }
  for (const char* own : {"home", "tmp"}) {
    const bool made = ::mkdirat(scratch.fd(), own, 0700) == 0 &&
                      (!owner || ::fchownat(scratch.fd(), own, owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) == 0);
    if (!made) return fail(system_error("make", (scratch.path() / own).native(), errno));
  }
  return scratch;
}

std::vector<std::string> writable_paths(const std::vector<Place>& places) {
  std::vector<std::string> paths;
  for (const Place& place : places) {
    if (place.access == LandlockAccess::kWrite) paths.push_back(place.path);
  }
  return paths;
}

// Landlock allows a device node like any file. A plain user could open the same nodes without us.
Status check_devices(const std::vector<Place>& places) {
  if (::geteuid() != 0) return {};
  for (const Place& place : places) {
    if (place.identity) TRY(check_no_device_nodes(place.path));
  }
  return {};
}

}  // namespace

Status LandlockJail::usable() {
  const int abi = landlock_abi();
  if (abi >= kLowestLandlockAbi) return check_own_processes_shown(JailKind::kLandlock);
  return fail(jail_unavailable(
      JailKind::kLandlock,
      abi == 0 ? "this kernel has no Landlock, or a filter refuses it"
               : fmt::format("this kernel's Landlock is too old: ABI {}, and {} is the least", abi, kLowestLandlockAbi),
      "it takes Linux 6.2 with landlock among the security modules (see /sys/kernel/security/lsm)"));
}

Result<std::unique_ptr<StagedRun>> LandlockJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  TRY(usable());
  static_cast<void>(TRY(file_of_host(request.executable, JailKind::kLandlock)));
  TRY(check_plan(plan));
  const HostView& view = *TRY(request.host.view());
  TRY(check_view(plan, view.entries));
  std::optional<ScratchDir> scratch;
  if (request.purpose == Purpose::kRun) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_scratch(kScratchRoot)); });
    scratch = TRY(make_private(plan.run_as));
  }
  // By the kernel's name for it: the worker compares that name with the writable places.
  const std::string private_dir =
      scratch ? TRY(canonical_existing(scratch->path(), "scratch")).native() : std::string(kExplainedDirectory);
  const std::vector<Place> places =
      render_places({.view = view.entries,
                     .identity_of = [&view](const std::string& path) { return view.identity_of(path); },
                     .private_dir = private_dir});
  TRY(check_devices(places));
  UniqueFd ruleset;
  if (scratch) ruleset = TRY(ruleset_of(places));
  spawn::LaunchSpec launch;
  launch.argv = request.executable.argv_for(plan);
  launch.env = env_texts(environment(plan, private_dir));
  launch.place = spawn::ConfinedPlace{.exe_fd = request.executable.file.get(),
                                      .cwd_fd = request.cwd,
                                      .ruleset_fd = ruleset.get(),
                                      .seccomp = seccomp_for(plan),
                                      .writable = writable_paths(places),
                                      .hands_connections = !plan.allowed_hosts.empty(),
                                      .allow_speculation = plan.speculation == Speculation::kAllowed};
  launch.hold(TRY(request.host.hold_limits({.counted_apart = false})));
  launch.run_as = plan.run_as;
  launch.fail_at_for_tests = fault_;
  return std::make_unique<LandlockRun>(plan, private_dir, places, std::move(launch), std::move(ruleset),
                                       std::move(scratch), supply_);
}

}  // namespace sallyport::landlock
