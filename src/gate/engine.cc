#include "gate/engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "adapters/bare/bare.h"
#include "adapters/bwrap/bwrap.h"
#include "adapters/native/native.h"
#include "core/errors.h"
#include "core/json.h"
#include "core/linux_jail.h"
#include "gate/jail_inputs.h"
#include "gate/verdict.h"
#include "gate/why.h"
#include "os/canonical.h"
#include "os/memfd.h"
#include "os/openat2.h"
#include "spawn/helper_image.h"

namespace sallyport {
namespace {

std::string home_of(const GateConfig& config) {
  for (const EnvVar& var : config.base_env) {
    if (var.name == "HOME") return var.value;
  }
  return {};
}

// A required guarantee that this run would not have is refused before anything starts (C26).
Status check_required(const Plan& plan, const Rendered& rendered) {
  for (const Guarantee guarantee : plan.required) {
    const bool had = std::ranges::any_of(rendered.established,
                                         [&](const Established& entry) { return entry.guarantee == guarantee; });
    if (had) continue;
    return fail(guarantee_unavailable(guarantee,
                                      fmt::format("the jail \"{}\" does not give it to this call", rendered.jail),
                                      "choose another jail, set the limit it belongs to, or do not require it"));
  }
  return {};
}

void emit_truncation(EventSink* events, const Plan& plan, Stream stream, const CapturedStream& captured) {
  if (events == nullptr || !captured.truncated) return;
  events->emit({.level = EventLevel::kWarning,
                .name = "subproc.stdout.truncated",
                .fields = {{"probe_name", plan.probe ? plan.probe->str() : std::string()},
                           {"stream", stream == Stream::kStdout ? "stdout" : "stderr"}}});
}

void drop_home_guarantee(Rendered& rendered, const JailInputs& inputs) {
  if (!inputs.home_exposed) return;
  std::erase_if(rendered.established, [](const Established& e) { return e.guarantee == Guarantee::kFsHomeHidden; });
}

Result<UniqueFd> materialise(const bwrap::PassedFd& passed, const spawn::LaunchSpec& inner) {
  switch (passed.kind) {
    case bwrap::PassedFd::Kind::kPath:
      return open_exactly(passed.text, O_PATH);
    case bwrap::PassedFd::Kind::kInit:
      return sealed_memfd("sallyport-init", spawn::helper_image(), MemfdUse::kData);
    case bwrap::PassedFd::Kind::kInnerImage:
      return sealed_memfd("sallyport-launch", spawn::encode(inner), MemfdUse::kData);
    case bwrap::PassedFd::Kind::kBytes:
      break;
  }
  return sealed_memfd("sallyport-data", passed.text, MemfdUse::kData);
}

void add_resources(Rendered& rendered, Resources resources) {
  rendered.launch.limits = resources.rlimits;
  rendered.launch.cgroup_procs_fds = resources.procs_fds();
  rendered.established.insert(rendered.established.end(), resources.established.begin(), resources.established.end());
  rendered.resources = std::move(resources);
}

// Explaining makes nothing, so it can only say which limits would be asked for.
Result<Resources> resources_for(Purpose purpose, const Plan& plan, Confinement confinement) {
  if (purpose == Purpose::kRun) return acquire_resources(plan.limits, plan.required, confinement);
  Resources expected;
  expected.established = expected_limits(plan.limits);
  return expected;
}

}  // namespace

Engine::Engine(GateConfig config)
    : config_(std::move(config)),
      policy_digest_(policy_digest(config_.allowlist)),
      hashes_(config_.cache_dir),
      hashes_when_explaining_(config_.cache_dir, CacheAccess::kReadOnly),
      warm_(config_.warm_jails) {
  // When it cannot be started, the run that needs it tries again and tells.
  if (config_.helper == HelperLife::kForOneRun) static_cast<void>(jails().start_ahead());
}

const HostLayout& Engine::host() {
  const std::scoped_lock lock(host_mutex_);
  if (!host_) host_ = read_host_layout();
  return *host_;
}

spawn::SpawnServer& Engine::jails() {
  std::call_once(jails_made_, [this] {
    const bool one_run = config_.helper == HelperLife::kForOneRun;
    const auto base = [this] {
      spawn::JailShape shape = native::render_base(host());
      shape.fail_at_for_tests = fault_;
      return shape;
    };
    jails_ = std::make_unique<spawn::SpawnServer>(
        one_run ? spawn::wire::HelperKind::kOneJail : spawn::wire::HelperKind::kJails, base);
  });
  return *jails_;
}

Result<Rendered> Engine::render_bare(const Prepared& prepared, Purpose purpose) {
  const Plan& plan = prepared.plan;
  if (plan.limits.disk) {
    return fail(guarantee_unavailable(Guarantee::kLimitDisk, "without a jail there is no scratch to bound",
                                      "choose a jail, or leave the disk limit out"));
  }
  if (!plan.allowed_hosts.empty()) {
    return fail(guarantee_unavailable(Guarantee::kNetEgressAllowlist, "without a jail every host can be reached",
                                      "choose a jail, or allow no host"));
  }
  Rendered rendered{.jail = bare::kJailName,
                    .launch = bare::render(
                        plan, {.exe_fd = prepared.tool.exe.get(), .cwd_fd = prepared.cwd.get(), .argv = prepared.argv}),
                    .established = bare::establishes()};
  add_resources(rendered, TRY(resources_for(purpose, plan, Confinement::kBare)));
  return rendered;
}

Result<Rendered> Engine::render_native(const Prepared& prepared, Purpose purpose) {
  const Plan& plan = prepared.plan;
  const JailInputs inputs = TRY(jail_inputs(prepared, host(), home_of(config_)));
  Rendered rendered{.jail = native::kJailName,
                    .launch = native::render(
                        plan, {.argv = prepared.argv,
                               .exe = prepared.executed,
                               .view = inputs.view,
                               .identity_of = [&](const std::string& path) { return inputs.identity_of(path); }}),
                    .established = jail_establishes(plan)};
  rendered.launch.network = TRY(network_for(plan));
  drop_home_guarantee(rendered, inputs);
  rendered.launch.fail_at_for_tests = fault_;
  add_resources(rendered, TRY(resources_for(purpose, plan, Confinement::kJailed)));
  return rendered;
}

Result<Rendered> Engine::render_bwrap(const Prepared& prepared, Purpose purpose) {
  const Plan& plan = prepared.plan;
  PinnedTool wrapper =
      TRY(locate(*Allowlist::builtin().find("bwrap"), config_.search_path, plan.repo, hashes_for(purpose)));
  const JailInputs inputs = TRY(jail_inputs(prepared, host(), home_of(config_)));
  const bwrap::Inputs rendering{.argv = prepared.argv,
                                .exe = prepared.executed,
                                .view = inputs.view,
                                .identity_of = [&](const std::string& path) { return inputs.identity_of(path); }};
  Resources resources = TRY(resources_for(purpose, plan, Confinement::kWrapped));
  spawn::LaunchSpec inner = bwrap::render_inner(plan, rendering);
  inner.limits = resources.rlimits;
  inner.fail_at_for_tests = fault_;
  bwrap::Command command = bwrap::render(plan, rendering);
  Rendered rendered{.jail = bwrap::kJailName, .established = jail_establishes(plan)};
  for (const bwrap::PassedFd& passed : command.passed) {
    rendered.kept_open.push_back(TRY(materialise(passed, inner)));
    rendered.launch.passed_fds.push_back(rendered.kept_open.back().get());
  }
  rendered.launch.argv = std::move(command.argv);
  rendered.launch.network = TRY(network_for(plan));
  rendered.launch.place =
      spawn::BarePlace{.exe_fd = wrapper.exe.get(), .cwd_fd = prepared.cwd.get(), .is_wrapper = true};
  rendered.kept_open.push_back(std::move(wrapper.exe));
  drop_home_guarantee(rendered, inputs);
  add_resources(rendered, std::move(resources));
  if (fault_ == spawn::wire::Stage::kNetwork) rendered.launch.fail_at_for_tests = fault_;  // made outside, not inside
  rendered.launch.limits.clear();  // they are the tool's, set inside
  return rendered;
}

Result<Rendered> Engine::render(JailKind jail, const Prepared& prepared, Purpose purpose) {
  switch (jail) {
    case JailKind::kNone:
      return render_bare(prepared, purpose);
    case JailKind::kBwrap:
      return render_bwrap(prepared, purpose);
    case JailKind::kAuto:  // chosen before
    case JailKind::kNative:
      break;
  }
  return render_native(prepared, purpose);
}

void Engine::announce(const Rendered& rendered, const Plan& plan) const {
  if (config_.events == nullptr || rendered.jail == bare::kJailName) return;
  config_.events->emit({.level = EventLevel::kDebug,
                        .name = rendered.jail == native::kJailName ? "subproc.jail.wrapped" : "subproc.bwrap.wrapped",
                        .fields = {{"probe_name", plan.probe ? plan.probe->str() : std::string()},
                                   {"egress", plan.allowed_hosts.empty() ? "false" : "true"}}});
}

Receipt Engine::receipt_for(const Prepared& prepared, Rendered& rendered, const spawn::Ended& ended,
                            const EgressSession& egress) const {
  for (Established& entry : rendered.established) {
    if (ended.landlocked && entry.mechanism == "mounts") entry.mechanism = "mounts+landlock";
    if (entry.guarantee == Guarantee::kNetEgressAllowlist) {
      entry.mechanism += egress.names_every_port() ? "+nftables" : ", other ports refused unnamed";
    }
  }
  return {.jail = rendered.jail,
          .established = std::move(rendered.established),
          .binary = prepared.tool.binary,
          .interpreters = prepared.tool.interpreters,
          .policy_digest = policy_digest_,
          .plan_digest = plan_digest(prepared.plan)};
}

Result<JailedSubprocessResult> Engine::run_in(JailKind jail, const Prepared& prepared, const JailedSubprocessSpec& spec,
                                              const std::stop_token& stop) {
  const Plan& plan = prepared.plan;
  // What an owner killed by SIGKILL could not remove, the next one does; only cgroups outlive their owner at all.
  if (plan.limits.memory || plan.limits.pids || plan.limits.cpu) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_cgroups()); });
  }
  Rendered rendered = TRY(render(jail, prepared, Purpose::kRun));
  TRY(check_required(plan, rendered));
  announce(rendered, plan);
  spawn::Supervision supervision{.wall = plan.limits.wall,
                                 .ladder = plan.ladder,
                                 .max_output = plan.limits.output,
                                 .disk_quota = plan.limits.disk.value_or(kDefaultDiskQuota),
                                 .stdin_source = spec.stdin_source,
                                 .tap = spec.tap,
                                 .stop_fd = spec.stop_fd};
  if (plan.limits.cpu && rendered.resources.cpu_time()) {
    supervision.cpu = {.limit = *plan.limits.cpu, .used = [&rendered] { return rendered.resources.cpu_time(); }};
  }
  EgressSession egress(plan, config_.events);
  if (egress.wanted()) {
    supervision.on_network = [&egress](spawn::OpenedNetwork network) { return egress.start(std::move(network)); };
  }
  Result<spawn::Ended> ended = start_and_supervise(rendered.launch, supervision, stop);
  if (!ended) return fail(explain_failure(std::move(ended).error(), plan.tool.name, prepared.tool.exec_path));
  const std::uint64_t oom_kills = TRY(rendered.resources.oom_kills());
  JailedSubprocessResult result;
  result.denials = egress.stop();
  result.outcome = verdict(*ended, oom_kills, plan.limits, result.denials);
  result.receipt = receipt_for(prepared, rendered, *ended, egress);
  result.duration = ended->duration;
  result.usage = ended->usage;
  if (ended->scratch) result.scratch = SandboxedPath::from_fd(std::move(ended->scratch));
  emit_truncation(config_.events, plan, Stream::kStdout, ended->stdout_stream);
  emit_truncation(config_.events, plan, Stream::kStderr, ended->stderr_stream);
  result.stdout_stream = std::move(ended->stdout_stream);
  result.stderr_stream = std::move(ended->stderr_stream);
  return result;
}

Result<spawn::Ended> Engine::start_and_supervise(const spawn::LaunchSpec& launch, const spawn::Supervision& supervision,
                                                 const std::stop_token& stop) {
  if (!std::holds_alternative<spawn::JailPlace>(launch.place)) {
    return spawn::supervise(tools_, launch, supervision, stop);
  }
  if (const std::shared_ptr<spawn::SpawnServer> warm = warm_.server_for(launch)) {
    std::optional<spawn::Ended> ended = TRY(spawn::supervise_if_sound(*warm, launch, supervision, stop));
    if (ended) return *std::move(ended);
    warm_.spoiled(warm);
  }
  return spawn::supervise(jails(), launch, supervision, stop);
}

// Probing is doing: the first jail that can be built is used. A host that cannot build one is not asked twice how it is;
// the kernel answers in microseconds, and a stale "no" would outlive the sysctl that caused it.
Result<JailedSubprocessResult> Engine::run_auto(const Prepared& prepared, const JailedSubprocessSpec& spec,
                                                const std::stop_token& stop) {
  Result<JailedSubprocessResult> native = run_in(JailKind::kNative, prepared, spec, stop);
  if (native || !host_cannot_jail(native.error())) return native;
  Result<JailedSubprocessResult> bwrap = run_in(JailKind::kBwrap, prepared, spec, stop);
  if (bwrap || !host_cannot_jail(bwrap.error())) return bwrap;
  Error neither = jail_unavailable(
      "auto", fmt::format("native: {}; bwrap: {}", native.error().message, bwrap.error().message), native.error().hint);
  const bool missing = bwrap.error().as<ToolMissingError>() != nullptr;
  std::get<JailUnavailable>(neither.detail).problem = missing ? JailProblem::kNotInstalled : JailProblem::kNotUsable;
  return fail(std::move(neither));
}

Result<JailedSubprocessResult> Engine::run(const JailedSubprocessSpec& spec, JailKind jail, std::stop_token stop) {
  const Prepared prepared = TRY(prepare(config_, hashes_, spec));
  if (jail == JailKind::kAuto) return run_auto(prepared, spec, stop);
  return run_in(jail, prepared, spec, stop);
}

Result<Explanation> Engine::explain(const JailedSubprocessSpec& spec, JailKind jail) {
  Prepared prepared = TRY(prepare(config_, hashes_for(Purpose::kExplain), spec));
  if (jail == JailKind::kAuto) jail = TRY(expected_jail(read_host_switches(), ::geteuid()));
  Rendered rendered = TRY(render(jail, prepared, Purpose::kExplain));
  TRY(check_required(prepared.plan, rendered));
  Explanation explanation{.plan = std::move(prepared.plan),
                          .jail = rendered.jail,
                          .would_establish = std::move(rendered.established),
                          .binary = std::move(prepared.tool.binary),
                          .interpreters = std::move(prepared.tool.interpreters)};
  if (const auto* place = std::get_if<spawn::JailPlace>(&rendered.launch.place)) {
    for (const spawn::RootOp& op : place->root_ops) explanation.rendered.push_back(spawn::describe(op));
    explanation.rendered.push_back("env      HOME=" + std::string(kJailHome));
  } else if (rendered.jail == bwrap::kJailName) {
    explanation.rendered = rendered.launch.argv;
  }
  return explanation;
}

Status Engine::warm_up(const JailedSubprocessSpec& spec) {
  const Prepared prepared = TRY(prepare(config_, hashes_, spec));
  const Rendered rendered = TRY(render_native(prepared, Purpose::kExplain));
  return warm_.prepare(rendered.launch);
}

Result<std::unique_ptr<Gate>> Gate::open(GateConfig config) {
  if (config.warm_jails > spawn::wire::kMaxWarmJails) {
    return fail(invalid_request("warm_jails", fmt::format("{} jails are too many to keep ready", config.warm_jails),
                                fmt::format("keep at most {}", spawn::wire::kMaxWarmJails)));
  }
  config.repo = TRY(canonical_directory(config.repo, "repo"));
  return std::make_unique<Engine>(std::move(config));
}

}  // namespace sallyport
