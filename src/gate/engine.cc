#include "gate/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "adapters/bare/bare.h"
#include "adapters/bwrap/bwrap.h"
#include "adapters/native/native.h"
#include "core/errors.h"
#include "core/json.h"
#include "gate/one_run.h"
#include "gate/verdict.h"
#include "gate/why.h"
#include "os/canonical.h"

namespace sallyport {
namespace {

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

}  // namespace

Engine::Engine(GateConfig config, JailSource source)
    : config_(std::move(config)),
      jail_source_(source),
      hashes_(config_.cache_dir),
      hashes_when_explaining_(config_.cache_dir, CacheAccess::kReadOnly),
      warm_(config_.warm_jails) {}

Engine::Engine(GateConfig config, std::unique_ptr<BegunJail> begun) : Engine(std::move(config), JailSource::kOneByOne) {
  begun_ = std::move(begun);
}

const HostLayout& Engine::host() {
  if (begun_) return begun_->host;
  const std::scoped_lock lock(host_mutex_);
  if (!host_) host_ = read_host_layout();
  return *host_;
}

spawn::SpawnServer& Engine::jails() {
  if (begun_) return begun_->server;
  std::call_once(jails_made_, [this] {
    const auto base = [this] {
      spawn::JailShape shape = native::render_base(host());
      shape.fail_at_for_tests = fault_;
      return shape;
    };
    const bool one_by_one = jail_source_ == JailSource::kOneByOne;
    jails_ = std::make_unique<spawn::SpawnServer>(
        one_by_one ? spawn::wire::HelperKind::kOneJail : spawn::wire::HelperKind::kJails, base);
  });
  return *jails_;
}

void Engine::announce(const Rendered& rendered, const Plan& plan) const {
  if (config_.events == nullptr || rendered.jail == bare::kJailName) return;
  config_.events->emit({.level = EventLevel::kDebug,
                        .name = rendered.jail == native::kJailName ? "subproc.jail.wrapped" : "subproc.bwrap.wrapped",
                        .fields = {{"probe_name", plan.probe ? plan.probe->str() : std::string()},
                                   {"egress", plan.allowed_hosts.empty() ? "false" : "true"}}});
}

const std::string& Engine::digest_of_policy() {
  std::call_once(policy_digested_, [this] { policy_digest_ = policy_digest(config_.allowlist); });
  return policy_digest_;
}

Receipt Engine::receipt_for(const Prepared& prepared, Rendered& rendered, Digests digests, const spawn::Ended& ended,
                            const EgressSession& egress) {
  for (Established& entry : rendered.established) {
    const bool twice =
        ended.landlocked && (entry.guarantee == Guarantee::kFsReadonlySystem || rendered.landlock_guards_all);
    if (twice && entry.mechanism == "mounts") entry.mechanism = "mounts+landlock";
    if (entry.guarantee == Guarantee::kNetEgressAllowlist) {
      entry.mechanism += egress.names_every_port() ? "+nftables" : ", other ports refused unnamed";
    }
  }
  return {.jail = rendered.jail,
          .established = std::move(rendered.established),
          .binary = prepared.tool.binary,
          .interpreters = prepared.tool.interpreters,
          .policy_digest = std::move(digests.policy),
          .plan_digest = std::move(digests.plan)};
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
  // Before the start: a jail may still be on its way, and after the end somebody waits for us.
  Digests digests{.policy = digest_of_policy(), .plan = plan_digest(plan)};
  Result<spawn::Ended> ended = start_and_supervise(rendered.launch, supervision, stop);
  if (!ended) return fail(explain_failure(std::move(ended).error(), plan.tool.name, prepared.tool.exec_path));
  const std::uint64_t oom_kills = TRY(rendered.resources.oom_kills());
  JailedSubprocessResult result;
  result.denials = egress.stop();
  result.outcome = verdict(*ended, oom_kills, plan.limits, result.denials);
  result.receipt = receipt_for(prepared, rendered, std::move(digests), *ended, egress);
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
  const Rendered rendered =
      TRY(render_native(prepared, Purpose::kRun));  // whether it joins a cgroup is known only then
  return warm_.prepare(rendered.launch);
}

namespace {

Status check_and_complete(GateConfig& config) {
  if (config.warm_jails > spawn::wire::kMaxWarmJails) {
    return fail(invalid_request("warm_jails", fmt::format("{} jails are too many to keep ready", config.warm_jails),
                                fmt::format("keep at most {}", spawn::wire::kMaxWarmJails)));
  }
  config.repo = TRY(canonical_directory(config.repo, "repo"));
  return {};
}

}  // namespace

Result<std::unique_ptr<Gate>> Gate::open(GateConfig config) {
  TRY(check_and_complete(config));
  return std::make_unique<Engine>(std::move(config));
}

// When it cannot be told, it is dead, and the run begins another.
BegunJail::BegunJail(spawn::BegunHelper helper)
    : host(read_host_layout()),
      server(spawn::wire::HelperKind::kOneJail, [this] { return native::render_base(host); }) {
  static_cast<void>(server.adopt(helper));
}

Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config, std::unique_ptr<BegunJail> begun) {
  TRY(check_and_complete(config));
  if (begun) return std::make_unique<Engine>(std::move(config), std::move(begun));
  auto engine = std::make_unique<Engine>(std::move(config), JailSource::kOneByOne);
  engine->begin_jail();
  return engine;
}

}  // namespace sallyport
