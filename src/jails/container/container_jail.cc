#include "jails/container/container_jail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/text/printable.h"
#include "os/file.h"
#include "os/scratch.h"
#include "spawn/owner/carry_hosts.h"
#include "spawn/owner/framed_start.h"
#include "spawn/owner/helper_image.h"

namespace sallyport::container {
namespace {

constexpr const char* kScratchRoot = "/tmp";
constexpr const char* kExplained = "/tmp/sallyport-…";

// As in other jails (core/view/fs_view.cc): an answer comes at once or never.
constexpr std::string_view kResolver = "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n";

// Names the engine that owns a stale directory's container.
std::string held_by(const ContainerOptions& options) {
  return fmt::format("{} {}\n", program_of(options.engine), fmt::join(options.engine_arguments, " "));
}

// The directory holds our init, and gives the container its name.
Result<ScratchDir> make_scratch(const ContainerOptions& options) {
  ScratchDir scratch = TRY(ScratchDir::create(kScratchRoot));
  TRY(write_file_atomically(scratch.path() / kHeldElsewhere, held_by(options)));
  TRY(write_file_atomically(scratch.path() / "init", spawn::helper_image(), 0555));
  TRY(write_file_atomically(scratch.path() / "resolv.conf", kResolver, 0444));
  return scratch;
}

std::uint64_t hard_limit(__rlimit_resource resource) {
  struct rlimit limit{};
  const bool known = ::getrlimit(resource, &limit) == 0 && limit.rlim_max != RLIM_INFINITY;
  return known ? limit.rlim_max : 0;
}

// Podman sets its own limit to a kernel's default number of pids, and no process below it can have a higher one.
std::uint64_t processes_allowed() {
  constexpr std::uint64_t kUsualPids = 32768;
  const std::uint64_t hard = hard_limit(RLIMIT_NPROC);
  return hard == 0 ? kUsualPids : std::min(hard, kUsualPids);
}

// A plain user's podman maps only the caller, to its root, which has no capability here.
UserIds user_inside(const Plan& plan, ContainerEngine engine) {
  const UserIds caller = plan.run_as.value_or(UserIds{.uid = ::geteuid(), .gid = ::getegid()});
  return engine == ContainerEngine::kPodman && ::geteuid() != 0 ? UserIds{} : caller;
}

// What init can know of a file inside: its device and inode, if the container runs on this kernel.
BinaryIdentity seen_inside(const BinaryIdentity& file, const ContainerOptions& options) {
  return runs_here(options) ? file : BinaryIdentity{.path = file.path};
}

struct About {
  const Plan& plan;
  const ContainerOptions& options;
  const Engine& engine;
  std::string name;
};

class ContainerLive final : public LiveRun {
 public:
  ContainerLive(std::unique_ptr<LiveRun> run, const About& about) : run_(std::move(run)), about_(about) {}
  ContainerLive(const ContainerLive&) = delete;
  ContainerLive& operator=(const ContainerLive&) = delete;

  // The engine may leave a container whose client was killed.
  ~ContainerLive() override {
    run_.reset();
    if (!ended_ || forced_) static_cast<void>(about_.engine.remove_container(about_.name));
  }

  [[nodiscard]] int event_fd() const override { return run_->event_fd(); }

  [[nodiscard]] Result<RunReport> next() override {
    RunReport report = TRY(run_->next());
    // Our init reports its user inside the container. Only the user that the plan asked for goes into the receipt.
    if (auto* started = std::get_if<ToolStarted>(&report); started && started->facts.run_as != about_.plan.run_as) {
      started->facts.run_as.reset();
    }
    if (const auto* failed = std::get_if<StartFailed>(&report)) TRY(judge(*failed));
    if (auto* end = std::get_if<ToolEnded>(&report)) {
      ended_ = !end->fate_unknown;
      // Without a memory limit the counter belongs to a cgroup that others share, so ignore it.
      if (!about_.plan.limits.memory && end->of_guest) end->of_guest->oom_kills = 0;
    }
    return report;
  }

  void stop(StopStep step) override {
    // Everything in the container is dead, and the engine removes it: that is slow, but killing the client would leave
    // the rest.
    if (ended_ && step == StopStep::kForce) return;
    if (step == StopStep::kForce || step == StopStep::kAbandon) forced_ = true;
    run_->stop(step);
  }

 private:
  [[nodiscard]] Status judge(const StartFailed& failed) const {
    const bool of_image = about_.options.tools == ContainerTools::kOfImage;
    if (failed.stage == SetupStage::kExec && failed.error_number == ENOENT && of_image) {
      return fail(tool_missing(about_.plan.tool.name,
                               "use an image that has it in its PATH, not " + printable(about_.options.image)));
    }
    if (failed.stage != SetupStage::kLimits) return {};
    return fail(jail_unavailable(kContainerJail, "the engine did not set the limits that were asked for",
                                 "a plain user's engine needs cgroup v2 that is delegated to it"));
  }

  std::unique_ptr<LiveRun> run_;
  const About& about_;
  bool ended_ = false;
  bool forced_ = false;
};

// What a run needs besides its command; empty for explain.
struct Made {
  ScratchDir scratch;
  spawn::LaunchSpec inner;  // for our init
};

class ContainerRun final : public StagedRun {
 public:
  ContainerRun(const Plan& plan, const ContainerOptions& options, Inputs inputs, Engine engine,
               std::optional<Made> made, spawn::JailSupply& supply)
      : plan_(plan),
        inputs_(std::move(inputs)),
        engine_(std::move(engine)),
        made_(std::move(made)),
        about_{.plan = plan, .options = options, .engine = engine_, .name = inputs_.name},
        supply_(supply) {}

  [[nodiscard]] std::vector<std::string> describe() const override { return render_command(plan_, inputs_); }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override {
    return container::environment(plan, inputs_);
  }
  [[nodiscard]] std::vector<Established> would_establish() const override {
    return establishes(plan_, inputs_, std::nullopt);
  }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return establishes(plan_, inputs_, facts);
  }
  // The container's own null device: a tool could see that a pipe is none.
  [[nodiscard]] bool has_null_device() const override { return true; }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    if (!made_) return fail(jail_unavailable(kContainerJail, "this run was only explained"));
    spawn::LaunchSpec client;
    client.argv = render_command(plan_, inputs_);
    client.env = engine_.environment();
    client.place = spawn::NoJailPlace{.exe_fd = engine_.client(),
                                      .cwd_fd = engine_.root_directory(),
                                      .is_wrapper = true,
                                      .is_framed = true,
                                      .is_engine = true,
                                      .hands_connections = made_->inner.network.carried.count > 0};
    start_.emplace(std::move(client), made_->inner);
    return std::make_unique<ContainerLive>(TRY(start_->start(supply_, streams)), about_);
  }

 private:
  const Plan& plan_;
  const Inputs inputs_;
  const Engine engine_;
  const std::optional<Made> made_;
  const About about_;
  std::optional<spawn::FramedStart> start_{};
  spawn::JailSupply& supply_;
};

std::vector<std::string> places_in(const std::vector<ViewEntry>& view) {
  std::vector<std::string> places = {"/tmp", "/var/tmp", "/dev", "/proc"};
  for (const ViewEntry& entry : view) {
    if (entry.kind == ViewKind::kBind) places.push_back(entry.target);
  }
  return places;
}

}  // namespace

Status ContainerJail::usable() {
  if (!options_.image.empty()) return {};
  return fail(jail_unavailable(kContainerJail, "no image was named",
                               "name one with `container.image`, best by its digest: NAME@sha256:…"));
}

Result<Engine> ContainerJail::engine(CallHost& host) {
  return Engine(supply_, options_, TRY(host.pin_wrapper(program_of(options_.engine))));
}

Result<Image> ContainerJail::image(CallHost& host) {
  TRY(usable());
  const std::lock_guard lock(mutex_);
  if (image_) return *image_;
  const Engine asked = TRY(engine(host));
  Image found = TRY(find_image(asked, options_));
  // Docker always mounts an image's volumes, and nothing limits what is written there.
  if (found.has_volumes && options_.engine == ContainerEngine::kDocker) {
    return fail(jail_unavailable(kContainerJail, printable(options_.image) + " declares volumes",
                                 "use one without, or podman"));
  }
  image_ = found;
  return found;
}

// The digest pins the whole image, so a name in it means one file: the first on the image's own PATH.
Result<std::shared_ptr<const Executable>> ContainerJail::resolve(const Plan& plan, CallHost& host) {
  if (options_.tools == ContainerTools::kOfHost) return host.pin_tool();
  const Image found = TRY(image(host));
  if (plan.tool.sha256) {
    return fail(untrusted_tool(plan.tool.name, printable(options_.image),
                               "the policy pins the digest of a file, and an image has one of its own",
                               "name the image by its digest, and leave the pin out"));
  }
  return std::make_shared<const Executable>(
      Executable{.identity = ImageFile{.image = options_.image, .digest = found.id, .path = plan.tool.name},
                 .argv0 = plan.tool.name});
}

void ContainerJail::sweep(const Engine& engine) {
  const auto release = [&](int directory, const std::string& name) -> Status {
    const UniqueFd file = TRY(open_path_at(directory, kHeldElsewhere, O_RDONLY | O_NOFOLLOW));
    if (TRY(read_all(file.get(), mebibytes(1), kHeldElsewhere)) != held_by(options_)) {
      return fail(jail_unavailable(kContainerJail, "another engine has it"));
    }
    return engine.remove_container(name);
  };
  std::call_once(swept_, [&] { static_cast<void>(sweep_stale_scratch(kScratchRoot, release)); });
}

Result<std::unique_ptr<StagedRun>> ContainerJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  const Image found = TRY(image(request.host));
  Engine client = TRY(engine(request.host));
  const HostView& view = *TRY(request.host.view());
  Inputs inputs{.engine = options_.engine,
                .engine_arguments = options_.engine_arguments,
                .image = found.id,
                .name = std::string(kExplained).substr(5),
                .init = std::string(kExplained) + "/init",
                .resolver = std::string(kExplained) + "/resolv.conf",
                .argv = request.executable.argv_for(plan),
                .view = callers_part(view.entries),
                .user = user_inside(plan, options_.engine),
                .open_files = hard_limit(RLIMIT_NOFILE),
                .processes = processes_allowed()};
  TRY(check(plan, inputs.view));
  spawn::NetworkSpec network = TRY(spawn::carried_network(plan));
  inputs.path = path_without(found.path, places_in(inputs.view));
  if (const BinaryIdentity* const executed = request.executable.executed()) {
    inputs.exe = seen_inside(*executed, options_);
  } else {
    inputs.exe_places = places_of_tool(inputs.path, plan.tool.name);
  }
  if (runs_here(options_)) inputs.identity_of = [&view](const std::string& path) { return view.identity_of(path); };
  std::optional<Made> made;
  if (request.purpose == Purpose::kRun) {
    sweep(client);
    spawn::LaunchSpec inner = render_inner(plan, inputs);
    inner.network = std::move(network);
    inner.fail_at_for_tests = fault_;
    made.emplace(Made{.scratch = TRY(make_scratch(options_)), .inner = std::move(inner)});
    inputs.name = made->scratch.path().filename();
    inputs.init = made->scratch.path() / "init";
    inputs.resolver = made->scratch.path() / "resolv.conf";
  }
  inputs.identity_of = {};  // the view belongs to the call
  return std::make_unique<ContainerRun>(plan, options_, std::move(inputs), std::move(client), std::move(made), supply_);
}

}  // namespace sallyport::container
