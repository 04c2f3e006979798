#include "jails/landlock/landlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/errors.h"
#include "core/seccomp/program.h"
#include "core/seccomp/tracing.h"
#include "core/seccomp/uncounted.h"
#include "core/view/linux_jail.h"
#include "core/view/paths.h"

namespace sallyport::landlock {
namespace {

// The files of /proc that programs read about the machine; what is not listed is denied. Nothing about other processes,
// not even the tool's own children, since a rule can name only a file that exists now. None of these is for root only.
constexpr auto kProcFiles = std::to_array<const char*>(
    {"/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/sys/fs/file-max",
     "/proc/sys/fs/pipe-max-size", "/proc/sys/kernel/cap_last_cap", "/proc/sys/kernel/ngroups_max",
     "/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/random/boot_id",
     "/proc/sys/kernel/random/uuid", "/proc/sys/kernel/threads-max", "/proc/sys/net/core/somaxconn",
     "/proc/sys/vm/max_map_count", "/proc/sys/vm/overcommit_memory", "/proc/uptime", "/proc/version"});
constexpr auto kReplaced = std::to_array<std::string_view>({"HOME", "RES_OPTIONS", "TEMP", "TMP", "TMPDIR"});
constexpr std::string_view kResolver =
    "/etc/resolv.conf";                             // without it libc asks 127.0.0.1: our resolver, or no server at all
constexpr std::string_view kTerminal = "/dev/tty";  // there is none

void add_proc(std::vector<Place>& places) {
  for (const char* path : kProcFiles) {
    places.push_back({.path = path, .is_directory = false, .may_be_missing = true});
  }
}

void add_entry(const ViewEntry& entry, const Inputs& inputs, std::vector<Place>& places) {
  switch (entry.kind) {
    case ViewKind::kBind:
      if (entry.target != entry.source) return;  // /work: a second name needs a mount
      places.push_back(
          {.path = entry.source,
           .is_directory = entry.source_is_directory,
           .access = entry.access == RepoAccess::kWritable ? LandlockAccess::kWrite : LandlockAccess::kRead,
           .identity = entry.of_base ? std::nullopt : inputs.identity_of(entry.source),
           .may_be_missing = entry.of_base});
      return;
    case ViewKind::kDevice:
      if (entry.source == kTerminal) return;
      places.push_back(
          {.path = entry.source, .is_directory = false, .access = LandlockAccess::kDevice, .may_be_missing = true});
      return;
    case ViewKind::kFile:  // only the host's own file can be shown
    case ViewKind::kCopy:
      if (entry.target == kResolver) return;
      places.push_back({.path = entry.target, .is_directory = false, .may_be_missing = true});
      return;
    case ViewKind::kProc:
      add_proc(places);
      return;
    case ViewKind::kDirectory:
    case ViewKind::kSymlink:
    case ViewKind::kScratch:
    case ViewKind::kShared:
    case ViewKind::kDevpts:
    case ViewKind::kMqueue:
    case ViewKind::kMask:
    case ViewKind::kOverlay:  // the gate asks for none: see Jail::layers()
    case ViewKind::kAlias:
      return;
  }
}

bool is_open(const ViewEntry& entry) { return entry.kind == ViewKind::kBind && entry.access == RepoAccess::kWritable; }

}  // namespace

std::vector<Place> render_places(const Inputs& inputs) {
  std::vector<Place> places;
  places.reserve(inputs.view.size() + kProcFiles.size() + 2);
  for (const ViewEntry& entry : inputs.view) add_entry(entry, inputs, places);
  for (const char* own : {"/home", "/tmp"}) {
    places.push_back({.path = inputs.private_dir + own, .access = LandlockAccess::kWrite});
  }
  return places;
}

std::string describe(const Place& place) {
  const char* const verb = place.access == LandlockAccess::kRead    ? "read"
                           : place.access == LandlockAccess::kWrite ? "write"
                                                                    : "device";
  return fmt::format("{:<8} {}{}", verb, place.path, place.identity ? " (compared)" : "");
}

std::vector<EnvVar> environment(const Plan& plan, const std::string& private_dir) {
  std::vector<EnvVar> variables = {{.name = "HOME", .value = private_dir + "/home"},
                                   {.name = "TMPDIR", .value = private_dir + "/tmp"}};
  // There is no UDP, so libc must ask over TCP.
  if (!plan.allowed_hosts.empty()) variables.push_back({.name = "RES_OPTIONS", .value = "use-vc"});
  return env_with(plan.env, variables, kReplaced);
}

std::string seccomp_for(const Plan& plan) {
  std::string program(plan.allowed_hosts.empty() ? seccomp::program_on_shared_host()
                                                 : seccomp::program_on_shared_host_with_tcp());
  if (plan.limits.memory) program = seccomp::without_uncounted(program);
  return plan.may_trace ? seccomp::with_tracing(program) : program;
}

Status check_plan(const Plan& plan) {
  if (plan.limits.disk) {
    return fail(guarantee_unavailable(Guarantee::kLimitDisk,
                                      "without a mount of its own the scratch directory has no bound",
                                      "use the native or the bwrap jail, or leave the disk limit out"));
  }
  if (plan.extra_ca) {
    return fail(invalid_request("extra_ca", "this jail has no place for the system's certificates together with yours",
                                "use the native or the bwrap jail, or leave `extra_ca` out"));
  }
  if (!plan.hidden.empty() || !plan.no_exec.empty()) {
    return fail(invalid_request(plan.hidden.empty() ? "no_exec" : "hidden",
                                "Landlock cannot close a part of what it opens",
                                "use the native jail, or leave `hidden` and `no_exec` out"));
  }
  return {};
}

Status check_view(const Plan& plan, const std::vector<ViewEntry>& view) {
  for (const ViewEntry& closed : view) {
    if (closed.kind != ViewKind::kBind || closed.access != RepoAccess::kReadOnly) continue;
    const auto around = std::ranges::find_if(
        view, [&](const ViewEntry& entry) { return is_open(entry) && is_inside(closed.source, entry.source); });
    if (around == view.end()) continue;
    const bool asked = std::ranges::any_of(
        plan.extra_read_only, [&](const std::filesystem::path& path) { return path.native() == closed.source; });
    return fail(guarantee_unavailable(
        asked ? Guarantee::kFsWriteConfined : Guarantee::kFsGitProtected,
        fmt::format(
            "{} is to stay as it is inside {}, which is writable, and Landlock cannot close a part of what it opens",
            closed.source, around->source),
        asked ? "use the native or the bwrap jail, or make less writable"
              : "use the native or the bwrap jail, make less writable, or say `GitAccess::kWritable`"));
  }
  return {};
}

std::vector<Established> establishes(const Plan& plan, int abi) {
  std::vector<Established> established = {
      {Guarantee::kExecAllowlisted, Mechanism::kGate},
      {Guarantee::kExecPinned, Mechanism::kDescriptor},
      {Guarantee::kEnvStripped, Mechanism::kGate},
      {Guarantee::kFsReadonlySystem, Mechanism::kLandlockAndSeccomp},
      {Guarantee::kFsHomeHidden, Mechanism::kLandlockNamesShow},
      {Guarantee::kFsPrivateTmp, Mechanism::kPrivateDirectory},
      {Guarantee::kFsWriteConfined, Mechanism::kLandlockAndSeccomp},
      plan.allowed_hosts.empty() ? Established{Guarantee::kNetIsolated, Mechanism::kSeccomp}
                                 : Established{Guarantee::kNetEgressAllowlist, Mechanism::kSeccompAndOwner},
      {Guarantee::kNetDnsClosed, plan.allowed_hosts.empty() ? Mechanism::kSeccomp : Mechanism::kSeccompAndOwner},
      {Guarantee::kNetUnixIsolated, Mechanism::kSeccomp},
      {Guarantee::kProcNoNewPrivs, Mechanism::kPrctl},
      {Guarantee::kProcCapsDropped, Mechanism::kCapset},
      {Guarantee::kProcSeccomp, plan.may_trace ? Mechanism::kSeccompWithTracing : Mechanism::kSeccomp},
      {Guarantee::kLimitOutput, Mechanism::kSupervisor},
      {Guarantee::kFsNoSetid, Mechanism::kSeccomp}};
  if (abi >= kScopesAbi) {
    established.push_back({Guarantee::kProcDiesWithParent, Mechanism::kSubreaper});
    established.push_back({Guarantee::kLimitWall, Mechanism::kSupervisor});
  }
  if (!may_write_the_repo(plan)) {
    established.push_back({Guarantee::kFsRepoUntouched, Mechanism::kLandlockAndSeccomp});
  }
  if (!may_write_the_host(plan)) {
    established.push_back({Guarantee::kFsGitProtected, Mechanism::kLandlockAndSeccomp});
  }
  return established;
}

}  // namespace sallyport::landlock
