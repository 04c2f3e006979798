#include "jails/microvm/microvm_jail.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/errors.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "jails/microvm/last_words.h"
#include "os/file.h"
#include "os/memfd.h"
#include "os/scratch.h"
#include "spawn/owner/framed_run.h"
#include "spawn/owner/helper_image.h"

namespace sallyport::microvm {
namespace {

constexpr const char* kScratchRoot = "/tmp";

// QEMU's jail has the plan's view and network, but not its limits. The guest enforces those; the size of the machine
// bounds QEMU itself.
class MachineHost final : public CallHost {
 public:
  MachineHost(CallHost& host, const HostView& view) : host_(host), view_(view) {}
  [[nodiscard]] Result<std::shared_ptr<const Executable>> pin_tool() override { return host_.pin_tool(); }
  [[nodiscard]] Result<Executable> pin_wrapper(std::string_view name) override { return host_.pin_wrapper(name); }
  [[nodiscard]] Result<HeldLimits> hold_limits(const LimitsWanted&) override {
    return HeldLimits{.rlimits = {{RLIMIT_CORE, 1, 1}}};
  }
  [[nodiscard]] Result<const HostView*> view() override { return &view_; }
  [[nodiscard]] Result<const spawn::NetworkSpec*> network() override { return host_.network(); }

 private:
  CallHost& host_;
  const HostView& view_;
};

// The plan for the jail around QEMU.
Plan plan_of_machine(const Plan& plan, std::vector<std::string> argv) {
  Plan machine = plan;
  machine.argv = std::move(argv);
  machine.tool = {.name = kQemu};
  machine.cwd = "/";
  machine.env.clear();
  machine.required.clear();
  machine.limits.memory.reset();
  machine.limits.pids.reset();
  machine.limits.cpu.reset();
  machine.limits.disk.reset();
  machine.open_files.reset();
  return machine;
}

std::vector<Established> establishes(const Plan& plan, LandlockReach reach, Accelerator accelerator,
                                     const std::optional<RunFacts>& facts) {
  std::vector<Established> established = jail_establishes(plan, reach, facts);
  if (plan.limits.memory) established.push_back({Guarantee::kLimitMemory, Mechanism::kGuestCgroup});
  if (plan.limits.pids) established.push_back({Guarantee::kLimitPids, Mechanism::kGuestCgroup});
  const bool kvm = accelerator == Accelerator::kKvm;
  established.push_back({Guarantee::kKernelSeparate, kvm ? Mechanism::kKvm : Mechanism::kEmulation});
  return established;
}

struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(system_error("make", "a socket pair", errno));
  }
  return SocketPair{.ours = UniqueFd(ends[0]), .theirs = UniqueFd(ends[1])};
}

// All parts of one run's machine; `inner` refers to the others.
struct Parts {
  std::unique_ptr<const Plan> plan;
  std::unique_ptr<const Executable> qemu;
  std::optional<ScratchDir> files;
  std::unique_ptr<StagedRun> around;
};

class MicrovmRun final : public StagedRun {
 public:
  MicrovmRun(const Plan& plan, const Options& options, LandlockReach reach, Parts parts, spawn::LaunchSpec guest)
      : plan_(plan), options_(options), reach_(reach), parts_(std::move(parts)), guest_(std::move(guest)) {}

  [[nodiscard]] std::vector<std::string> describe() const override {
    std::string command;
    for (const std::string& word : parts_.plan->argv) command += (command.empty() ? "run    " : " ") + word;
    std::vector<std::string> steps = {std::move(command)};
    for (std::string& step : parts_.around->describe()) steps.push_back(std::move(step));
    for (const spawn::RootOp& op : std::get<spawn::JailPlace>(guest_.place).root_ops) {
      steps.push_back("guest  " + spawn::describe(op));
    }
    return steps;
  }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override { return jail_env(plan); }
  [[nodiscard]] std::vector<Established> would_establish() const override {
    return establishes(plan_, reach_, options_.accelerator, std::nullopt);
  }
  [[nodiscard]] std::vector<Established> established(const RunFacts& facts) const override {
    return establishes(plan_, reach_, options_.accelerator, facts);
  }
  [[nodiscard]] bool has_null_device() const override { return true; }

  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    if (!parts_.files) return fail(jail_unavailable(options_.kind, "this run was only explained"));
    const auto stdin_is = streams.in < 0 ? spawn::StdinIs::kNullDevice : spawn::StdinIs::kGiven;
    std::string image = spawn::encode(guest_, {}, stdin_is);
    if (image.size() > spawn::wire::kLargestFramedImage) {
      return fail(invalid_request("argv", "the command line and what is shown do not fit into a message to the guest",
                                  "pass less"));
    }
    SocketPair pair = TRY(make_socket_pair());
    auto errors = std::make_shared<const UniqueFd>(TRY(make_word_file()));
    std::unique_ptr<LiveRun> around =
        TRY(parts_.around->start({.in = pair.theirs.get(), .out = pair.theirs.get(), .err = errors->get()}));
    errors_ = errors;
    return spawn::FramedRun::open(
        std::move(around), std::move(pair.ours), std::move(pair.theirs), streams,
        {.jail = options_.kind,
         .image = std::move(image),
         .patience = options_.patience,
         .last_words = [errors](int scratch) { return last_words(errors->get(), scratch, kConsoleFile); }});
  }

 private:
  const Plan& plan_;
  const Options& options_;
  const LandlockReach reach_;
  const Parts parts_;
  const spawn::LaunchSpec guest_;
  std::shared_ptr<const UniqueFd> errors_;  // the run borrows it until QEMU has started
};

Result<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct statx about{};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO, &about) != 0) {
    return fail(system_error("stat", path.native(), errno));
  }
  return FileIdentity{.device = (std::uint64_t{about.stx_dev_major} << 32U) | about.stx_dev_minor,
                      .inode = about.stx_ino};
}

// QEMU reads it in a jail that may run as another user.
Status write_initramfs(const ScratchDir& files, const std::string& content) {
  const UniqueFd fd = TRY(open_path_at(files.fd(), "initramfs", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0444));
  return write_all(fd.get(), content, "the initramfs");
}

}  // namespace

Status MicrovmJail::processor_works() const {
  if (options_.accelerator == Accelerator::kKvm) return try_kvm();
  return {};
}

Status MicrovmJail::usable() {
  TRY(around_.usable());
  TRY(processor_works());
  TRY(find_kernel(options_.kernels, options_.kind));
  return {};
}

Result<std::unique_ptr<StagedRun>> MicrovmJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  const BinaryIdentity* const executed = TRY(file_of_host(request.executable, options_.kind));
  TRY(processor_works());
  const GuestKernel kernel = TRY(find_kernel(options_.kernels, options_.kind));
  Parts parts;
  parts.qemu = std::make_unique<const Executable>(TRY(request.host.pin_wrapper(kQemu)));
  const HostView& view = *TRY(request.host.view());
  MachineFiles files{.kernel = kernel.image, .initramfs = "/dev/null", .accelerator = options_.accelerator};
  HostView machines{.identities = view.identities};
  if (request.purpose == Purpose::kRun) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_scratch(kScratchRoot)); });
    parts.files = TRY(ScratchDir::create(kScratchRoot));
    const std::string_view init = options_.init.empty() ? spawn::helper_image() : options_.init;
    const std::string initramfs = TRY(make_initramfs(kernel, init, options_.kind));
    TRY(write_initramfs(*parts.files, initramfs));
    files.initramfs = parts.files->path() / "initramfs";
    for (const std::string& path : {files.kernel, files.initramfs}) machines.identities[path] = TRY(identity_of(path));
  }
  machines.entries = machines_view(view.entries, files);
  Machine machine = machine_for(plan, view.entries);
  machine.accelerator = options_.accelerator;
  machine.clock_khz = host_clock_khz();
  std::vector<std::string> argv = {parts.qemu->argv0};
  std::ranges::move(qemu_arguments(machine), std::back_inserter(argv));
  parts.plan = std::make_unique<const Plan>(plan_of_machine(plan, std::move(argv)));
  MachineHost host(request.host, machines);
  parts.around = TRY(around_.stage({.plan = *parts.plan,
                                    .executable = *parts.qemu,
                                    .cwd = request.cwd,
                                    .purpose = request.purpose,
                                    .another_follows = request.another_follows,
                                    .host = host}));
  GuestInputs guest{.argv = request.executable.argv_for(plan),
                    .exe = executed->path,
                    .view = view.entries,
                    .limits = {{RLIMIT_CORE, 1, 1}}};
  if (plan.open_files) guest.limits.push_back({RLIMIT_NOFILE, *plan.open_files, *plan.open_files});
  return std::make_unique<MicrovmRun>(plan, options_, landlock_reach(view.entries), std::move(parts),
                                      render_guest(plan, guest));
}

}  // namespace sallyport::microvm
