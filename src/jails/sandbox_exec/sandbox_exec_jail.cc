#include "jails/sandbox_exec/sandbox_exec_jail.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/host_view.h"
#include "core/view/linux_jail.h"
#include "jails/sandbox_exec/check.h"
#include "jails/sandbox_exec/profile.h"
#include "os/posix/cpu_rlimit.h"
#include "os/posix/private_dir.h"
#include "spawn/posix/connect_proxy.h"
#include "spawn/posix/posix_run.h"

namespace sallyport::sandbox_exec {
namespace {

constexpr std::string_view kLauncherName = "sandbox-exec";  // the program's

#ifdef __APPLE__
constexpr bool kIsMacOs = true;
#else
constexpr bool kIsMacOs = false;
#endif

// Stand for a run's own values in the output of explain.
constexpr const char* kExplainedDirectory = "/sallyport-…";
constexpr const char* kExplainedProxy = "http://sallyport:…@127.0.0.1:…";
constexpr std::uint16_t kExplainedPort = 0;

using spawn::posix::ConnectProxy;

class SandboxExecRun final : public StagedRun {
 public:
  SandboxExecRun(const Plan& plan, RunsOwn own, std::optional<posix::PrivateDir> scratch,
                 std::unique_ptr<ConnectProxy> proxy, spawn::posix::Launch launch)
      : plan_(plan),
        own_(std::move(own)),
        scratch_(std::move(scratch)),
        proxy_(std::move(proxy)),
        launch_(std::move(launch)) {}

  [[nodiscard]] std::vector<std::string> describe() const override { return spawn::posix::command_of(launch_); }
  [[nodiscard]] std::vector<EnvVar> environment(const Plan& plan) const override {
    return sandbox_exec::environment(plan, own_);
  }
  [[nodiscard]] std::vector<Established> would_establish() const override { return establishes(plan_); }
  [[nodiscard]] Result<std::unique_ptr<LiveRun>> start(const ToolStreams& streams) override {
    UniqueFd connections;
    if (proxy_) connections = TRY(proxy_->serve());
    return spawn::posix::start_run(launch_, streams, std::move(connections));
  }

 private:
  const Plan& plan_;
  const RunsOwn own_;
  std::optional<posix::PrivateDir> scratch_;  // outlives the run; gone with this object (C16)
  std::unique_ptr<ConnectProxy> proxy_;       // likewise
  const spawn::posix::Launch launch_;
};

// The kernel judges a path after it has followed every symlink, so a rule about a symlink's own name opens nothing, or
// something else. So no component may be a symlink.
Status check_no_symlink(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat info{};
    if (::lstat(part.c_str(), &info) != 0) return fail(system_error("stat", part, errno));
    if (S_ISLNK(info.st_mode)) {
      return fail(invalid_request("path", printable(part) + " is a symlink, which a sandbox profile cannot name",
                                  "name what it leads to"));
    }
    if (end == std::string::npos) return {};
  }
}

std::vector<ResourceLimit> limits_of(const Plan& plan) {
  std::vector<ResourceLimit> limits = {{RLIMIT_CORE, 0, 0}};
  if (plan.limits.cpu) limits.push_back(cpu_rlimit(*plan.limits.cpu));
  if (plan.open_files) limits.push_back({RLIMIT_NOFILE, *plan.open_files, *plan.open_files});
  return limits;
}

// Pins by the gate's rules, and accepts only this one file: a sandbox-exec elsewhere is not Apple's.
Result<std::string> pin_launcher(CallHost& host, const std::string& launcher) {
  const Executable wrapper = TRY(host.pin_wrapper(kLauncherName));
  if (wrapper.exec_path == launcher) return launcher;
  return fail(untrusted_tool(kLauncherName, wrapper.exec_path, "only " + launcher + " is the system's own"));
}

}  // namespace

Status SandboxExecJail::usable() {
  if (kIsMacOs || options_.stand_in_for_tests) return {};
  return fail(
      jail_unavailable(JailKind::kSandboxExec, "it needs macOS", "use the native, bwrap or landlock jail on Linux"));
}

Result<std::unique_ptr<StagedRun>> SandboxExecJail::stage(const StageRequest& request) {
  const Plan& plan = request.plan;
  TRY(usable());
  static_cast<void>(TRY(file_of_host(request.executable, JailKind::kSandboxExec)));
  TRY(check_plan(plan));
  const std::string launcher = TRY(pin_launcher(request.host, options_.launcher));
  const HostView& view = *TRY(request.host.view());
  std::optional<posix::PrivateDir> scratch;
  std::unique_ptr<ConnectProxy> proxy;
  RunsOwn own{.private_dir = options_.scratch_root + kExplainedDirectory};
  if (request.purpose == Purpose::kRun) {
    std::call_once(swept_, [this] { posix::sweep_private_dirs(options_.scratch_root); });
    scratch.emplace(TRY(posix::PrivateDir::create(options_.scratch_root, {"home", "tmp"})));
    own.private_dir = scratch->path();
  }
  const bool has_hosts = !plan.allowed_hosts.empty();
  if (has_hosts && scratch) proxy = TRY(ConnectProxy::open());
  if (has_hosts) own.proxy_url = proxy ? proxy->url() : kExplainedProxy;
  Inputs inputs{.view = view.entries,
                .private_dir = own.private_dir,
                .init = options_.init,
                .executable = request.executable.exec_path};
  if (has_hosts) inputs.proxy_port = proxy ? proxy->port() : kExplainedPort;
  if (scratch) {
    for (const Place& place : places_of(inputs)) TRY(check_no_symlink(place.path));
  }
  spawn::posix::Launch launch{.wrapper = render_argv(launcher, render(inputs), {}),
                              .init = options_.init,
                              .limits = limits_of(plan),
                              .exe = request.executable.exec_path,
                              .argv = request.executable.argv_for(plan),
                              .env = env_texts(environment(plan, own)),
                              .cwd = request.cwd};
  return std::make_unique<SandboxExecRun>(plan, std::move(own), std::move(scratch), std::move(proxy),
                                          std::move(launch));
}

}  // namespace sallyport::sandbox_exec
