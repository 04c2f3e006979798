#include "jails/container/container.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/errors.h"
#include "core/view/linux_jail.h"
#include "core/view/paths.h"
#include "os/posix/cpu_rlimit.h"
#include "spawn/wire/wrapped.h"

namespace sallyport::container {
namespace {

using spawn::wire::OpKind;

// As in the oci jail: two more places share the quota with /tmp; together they never exceed it.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kSharing = 2;
constexpr std::uint64_t kPage = 4096;
// For a plan without a process limit: more than any tool needs, and fewer than a fork bomb wants.
constexpr std::uint32_t kDefaultPids = 4096;

std::uint64_t quota_of(const Plan& plan) { return count(plan.limits.disk.value_or(kDefaultDiskQuota)); }
std::uint64_t shared_part(const Plan& plan) { return std::max(quota_of(plan) / kShare / kPage * kPage, kPage); }

// The kernel rounds a limit down to whole pages.
std::uint64_t memory_of(const Plan& plan) { return count(*plan.limits.memory) / kPage * kPage; }
// One more for our init.
std::uint32_t pids_of(const Plan& plan) { return plan.limits.pids.value_or(kDefaultPids) + 1; }

bool is_required(const Plan& plan, Guarantee guarantee) {
  return std::ranges::find(plan.required, guarantee) != plan.required.end();
}

class Command {
 public:
  explicit Command(const Inputs& inputs) : is_podman_(inputs.engine == ContainerEngine::kPodman) {
    words_ = {std::string(program_of(inputs.engine))};
    words_.insert(words_.end(), inputs.engine_arguments.begin(), inputs.engine_arguments.end());
  }

  void add(std::initializer_list<std::string_view> words) { words_.insert(words_.end(), words.begin(), words.end()); }
  void word(std::string text) { words_.push_back(std::move(text)); }

  // Without the mounts below the source: they could be writable, and not every version of both engines can make them
  // read-only.
  void bind(const std::string& source, const std::string& target, RepoAccess access) {
    word("--mount");
    // Docker 25 deprecates bind-nonrecursive, but Debian 12's Docker 20.10 knows no other option.
    word(fmt::format("type=bind,source={},target={},bind-propagation=rprivate,bind-nonrecursive=true{}", source, target,
                     access == RepoAccess::kReadOnly ? ",readonly" : ""));
  }

  void tmpfs(const std::string& target, std::string_view options) {
    word("--tmpfs");
    // Podman fills a tmpfs with what the image has there.
    word(fmt::format("{}:nosuid,nodev,{}{}", target, options, is_podman_ ? ",notmpcopyup" : ""));
  }

  [[nodiscard]] std::vector<std::string> take() && { return std::move(words_); }

 private:
  const bool is_podman_;
  std::vector<std::string> words_;
};

void add_hardening(Command& command, const Plan& plan, const Inputs& inputs) {
  command.add({"run", "--interactive", "--rm", "--pull=never", "--network=none", "--cap-drop=ALL",
               "--security-opt=no-new-privileges", "--read-only", "--ipc=private", "--cgroupns=private",
               "--log-driver=none", "--no-healthcheck", "--sig-proxy=false", "--hostname=sallyport", "--workdir=/",
               "--label=sallyport.jail=1"});
  if (inputs.engine == ContainerEngine::kPodman) {
    command.add({"--read-only-tmpfs=false", "--image-volume=ignore", "--http-proxy=false"});
    // The engine's default may be higher than the caller's own limit.
    if (inputs.open_files > 0) command.word(fmt::format("--ulimit=nofile={0}:{0}", inputs.open_files));
    if (inputs.processes > 0) command.word(fmt::format("--ulimit=nproc={0}:{0}", inputs.processes));
  }
  command.word(fmt::format("--name={}", inputs.name));
  command.word(fmt::format("--user={}:{}", inputs.user.uid, inputs.user.gid));
  command.word(fmt::format("--pids-limit={}", pids_of(plan)));
  // Our init listens at the allowed ports, without a capability. The container has no other network than its own loopback.
  if (!plan.allowed_hosts.empty()) command.word("--sysctl=net.ipv4.ip_unprivileged_port_start=0");
  if (plan.limits.memory) {
    command.word(fmt::format("--memory={}b", memory_of(plan)));
    command.word(fmt::format("--memory-swap={}b", memory_of(plan)));
  }
}

void add_view(Command& command, const Plan& plan, const Inputs& inputs) {
  const std::uint64_t part = shared_part(plan);
  const std::uint64_t rest = quota_of(plan) - std::min(kSharing * part, quota_of(plan) / 2);
  for (const auto& [place, size] : {std::pair("/tmp", std::max(rest, kPage)), std::pair("/var/tmp", part)}) {
    // Podman cannot limit the number of files; our init counts them.
    const std::string files = inputs.engine == ContainerEngine::kDocker
                                  ? fmt::format(",nr_inodes={}", scratch_files(ByteCount{quota_of(plan)}))
                                  : std::string();
    command.tmpfs(place, fmt::format("rw,exec,mode=1777,size={}{}", size, files));
  }
  command.word(fmt::format("--shm-size={}b", part));
  command.bind(inputs.init, std::string(spawn::kInitPath), RepoAccess::kReadOnly);
  // Podman refuses --dns without a network.
  if (!plan.allowed_hosts.empty()) command.bind(inputs.resolver, "/etc/resolv.conf", RepoAccess::kReadOnly);
  for (const ViewEntry& entry : inputs.view) {
    if (entry.kind == ViewKind::kBind) command.bind(entry.source, entry.target, entry.access);
    if (entry.kind != ViewKind::kMask) continue;
    if (entry.source_is_directory) {
      command.tmpfs(entry.target, "ro,mode=0555,size=4096");
    } else {
      command.bind("/dev/null", entry.target, RepoAccess::kReadOnly);
    }
  }
}

bool is_in_scratch(const ViewEntry& entry) { return entry.target != "/tmp" && is_inside(entry.target, "/tmp"); }

// The parts of an engine's /dev that a tool may write to. Not /dev itself: a tool that is root inside could use it as
// unbounded scratch.
constexpr auto kDevices =
    std::to_array<const char*>({"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
                                "/dev/pts", "/dev/shm", "/dev/mqueue"});

void add_writable(const Inputs& inputs, std::vector<std::string>& places) {
  places = {"/tmp", "/var/tmp"};
  places.insert(places.end(), kDevices.begin(), kDevices.end());
  for (const ViewEntry& entry : inputs.view) {
    if (entry.kind == ViewKind::kBind && entry.access == RepoAccess::kWritable) places.push_back(entry.target);
  }
}

// Checks that limits exist: an engine that cannot set one may only warn and go on.
void add_checks(const Plan& plan, std::vector<spawn::RootOp>& ops) {
  if (plan.limits.memory) {
    ops.push_back({.kind = OpKind::kCheckText,
                   .target = "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                   .source = "/sys/fs/cgroup/memory.max",
                   .content = fmt::format("{}\n", memory_of(plan))});
  }
  if (plan.limits.pids) {
    ops.push_back({.kind = OpKind::kCheckText,
                   .target = "/sys/fs/cgroup/pids/pids.max",
                   .source = "/sys/fs/cgroup/pids.max",
                   .content = fmt::format("{}\n", pids_of(plan))});
  }
}

std::vector<ResourceLimit> rlimits_of(const Plan& plan) {
  std::vector<ResourceLimit> limits;
  if (plan.limits.cpu) limits.push_back(cpu_rlimit(*plan.limits.cpu));
  if (plan.open_files) limits.push_back({RLIMIT_NOFILE, *plan.open_files, *plan.open_files});
  return limits;
}

}  // namespace

std::string_view program_of(ContainerEngine engine) { return engine == ContainerEngine::kPodman ? "podman" : "docker"; }

Status check(const Plan& plan, const std::vector<ViewEntry>& view) {
  if (!plan.no_exec.empty()) {
    return fail(invalid_request("no_exec", "no container engine mounts without programs", "use another jail"));
  }
  if (plan.extra_ca) {
    return fail(
        invalid_request("extra_ca", "the certificates are the image's", "use another jail, or an image that has them"));
  }
  for (const ViewEntry& entry : view) {
    if ((entry.target + entry.source).find_first_of(",\"\n") == std::string::npos) continue;
    return fail(invalid_request("path", fmt::format("{} has a character that a mount option cannot", entry.target),
                                "rename it, or use another jail"));
  }
  return {};
}

std::vector<ViewEntry> callers_part(const std::vector<ViewEntry>& view) {
  std::vector<ViewEntry> part;
  for (const ViewEntry& entry : view) {
    const bool is_shown = entry.kind == ViewKind::kBind || entry.kind == ViewKind::kMask;
    const bool is_made =
        (entry.kind == ViewKind::kDirectory || entry.kind == ViewKind::kSymlink) && is_in_scratch(entry);
    if (!entry.of_base && (is_shown || is_made)) part.push_back(entry);
  }
  return part;
}

std::vector<std::string> render_command(const Plan& plan, const Inputs& inputs) {
  Command command(inputs);
  add_hardening(command, plan, inputs);
  add_view(command, plan, inputs);
  command.word(fmt::format("--entrypoint={}", spawn::kInitPath));
  command.word(inputs.image);
  command.word(spawn::init_argument({.kind = spawn::wire::HelperKind::kFramed}));
  return std::move(command).take();
}

std::vector<EnvVar> environment(const Plan& plan, const Inputs& inputs) {
  std::vector<EnvVar> own = jail_variables();
  if (!inputs.path.empty()) own.push_back({.name = "PATH", .value = inputs.path});
  return env_with(plan.env, own);
}

spawn::LaunchSpec render_inner(const Plan& plan, const Inputs& inputs) {
  spawn::JailPlace place = spawn::wrapped_place(plan);
  place.in_engine = true;
  if (inputs.exe) place.exe = *inputs.exe;
  place.exe_places = inputs.exe_places;
  add_writable(inputs, place.landlock_writable);
  for (const ViewEntry& entry : inputs.view) {
    spawn::add_identity_check(entry, inputs.identity_of, place.root_ops);
    // A directory that holds a mount exists already.
    const bool is_made = entry.kind == ViewKind::kDirectory && is_in_scratch(entry);
    if (is_made)
      place.root_ops.push_back({.kind = OpKind::kDirectory,
                                .target = entry.target.substr(1),
                                .flags = spawn::wire::kOpBeneath,
                                .mode = entry.mode});
  }
  add_checks(plan, place.root_ops);
  spawn::LaunchSpec spec;
  spec.argv = inputs.argv;
  spec.env = env_texts(environment(plan, inputs));
  spec.limits = rlimits_of(plan);
  spec.place = std::move(place);
  return spec;
}

std::vector<Established> establishes(const Plan& plan, const Inputs& inputs, const std::optional<RunFacts>& facts) {
  std::vector<Established> established = jail_establishes(plan, landlock_reach(inputs.view), facts);
  for (Established& one : established) {
    if (one.guarantee == Guarantee::kExecPinned && !inputs.exe) one.mechanism = Mechanism::kImageDigest;
    if (one.guarantee == Guarantee::kProcDiesWithParent) one.mechanism = Mechanism::kClientsStream;
  }
  hold_by_carrying(established, facts);
  // Neither engine hides the parts of /proc that are for root alone, and root's tool runs as root.
  std::erase_if(established, [&inputs](const Established& one) {
    return one.guarantee == Guarantee::kFsReadonlySystem && inputs.user.uid == 0;
  });
  // A cgroup v1 does not count socket memory, and for this jail the gate does not watch it.
  if (plan.limits.memory && !is_required(plan, Guarantee::kLimitMemory)) {
    established.push_back({Guarantee::kLimitMemory, Mechanism::kEngineCgroup});
  }
  if (plan.limits.pids) established.push_back({Guarantee::kLimitPids, Mechanism::kEngineCgroup});
  // The limit binds each process alone: a caller that requires a limit for the whole run gets no run.
  if (plan.limits.cpu && !is_required(plan, Guarantee::kLimitCpu)) {
    established.push_back({Guarantee::kLimitCpu, Mechanism::kRlimitPerProcess});
  }
  return established;
}

}  // namespace sallyport::container
