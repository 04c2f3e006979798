#include "gate/engine.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "core/json/json.h"
#include "core/text/printable.h"
#include "gate/git_configuration.h"
#include "gate/git_report.h"
#include "gate/one_run.h"
#include "gate/verdict.h"
#include "gate/why.h"
#include "jails/bwrap/bwrap.h"
#include "jails/native/native.h"
#include "jails/none/none.h"
#include "os/canonical.h"

namespace sallyport {
namespace {

// A required guarantee that this run would not have is refused before anything starts (C26).
Status check_required(const Plan& plan, const Rendered& rendered) {
  for (const Guarantee guarantee : plan.required) {
    const bool had = std::ranges::any_of(rendered.established,
                                         [&](const Established& entry) { return entry.guarantee == guarantee; });
    if (had) continue;
    const auto lost = std::ranges::find(rendered.lost, guarantee, &LostGuarantee::guarantee);
    if (lost != rendered.lost.end()) {
      return fail(guarantee_unavailable(guarantee, fmt::format("{} is shown: {}", lost->path, lost->why),
                                        "show another path, or do not require it"));
    }
    return fail(guarantee_unavailable(guarantee,
                                      fmt::format("the jail \"{}\" does not give it to this call", rendered.jail),
                                      "choose another jail, set the limit it belongs to, or do not require it"));
  }
  return {};
}

std::string path_in(const std::vector<EnvVar>& env) {
  const auto path = std::ranges::find(env, "PATH", &EnvVar::name);
  return path == env.end() ? std::string() : path->value;
}

// At least a moment, so that a run out of time ends as one.
std::chrono::milliseconds remaining(std::chrono::milliseconds wall, std::chrono::microseconds spent) {
  return std::max(wall - std::chrono::duration_cast<std::chrono::milliseconds>(spent), std::chrono::milliseconds(1));
}

void emit_truncation(EventSink* events, const Plan& plan, Stream stream, const CapturedStream& captured) {
  if (events == nullptr || !captured.truncated) return;
  events->emit({.level = EventLevel::kWarning,
                .name = "subproc.stdout.truncated",
                .fields = {{"probe_name", plan.probe ? plan.probe->str() : std::string()},
                           {"stream", stream == Stream::kStdout ? "stdout" : "stderr"}}});
}

}  // namespace

Engine::Engine(GateConfig config, spawn::SupplyFor runs)
    : config_(std::move(config)),
      hashes_(config_.cache_dir),
      hashes_when_explaining_(config_.cache_dir, CacheAccess::kReadOnly),
      child_path_(path_in(config_.base_env)),
      supply_({.runs = runs, .base = [this] { return base_of_jails(); }, .warm_jails = config_.warm_jails}) {}

const HostLayout& Engine::host() {
  const std::scoped_lock lock(host_mutex_);
  if (!host_) host_ = read_host_layout();
  return *host_;
}

spawn::JailShape Engine::base_of_jails() {
  spawn::JailShape shape = native::render_base(host());
  shape.fail_at_for_tests = fault_;
  return shape;
}

void Engine::announce(const Rendered& rendered, const Plan& plan) const {
  if (config_.events == nullptr || rendered.jail == none::kJailName) return;
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
                                              const std::stop_token& stop, RunNotes notes) {
  const Plan& plan = prepared.plan;
  EventSink* const events = notes.silent ? nullptr : config_.events;
  // What an owner killed by SIGKILL could not remove, the next one does; only cgroups outlive their owner at all.
  if (plan.limits.memory || plan.limits.pids || plan.limits.cpu) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_cgroups()); });
  }
  const auto called = std::chrono::steady_clock::now() - notes.spent;
  Rendered rendered = TRY(render(jail, prepared, Purpose::kRun));
  TRY(check_required(plan, rendered));
  if (!notes.silent) announce(rendered, plan);
  if (!notes.silent) emit_doubts(config_.events, prepared);
  spawn::Supervision supervision{.wall = remaining(plan.limits.wall, notes.spent),
                                 .ladder = plan.ladder,
                                 .max_output = plan.limits.output,
                                 .disk_quota = plan.limits.disk.value_or(kDefaultDiskQuota),
                                 .stdin_source = spec.stdin_source,
                                 .tap = spec.tap,
                                 .tap_waits_for = spec.tap_waits_for,
                                 .stop_fd = spec.stop_fd,
                                 .another_follows = notes.silent};
  if (plan.limits.cpu && rendered.resources.cpu_time()) {
    supervision.cpu = {.limit = *plan.limits.cpu, .used = [&rendered] { return rendered.resources.cpu_time(); }};
  }
  if (plan.limits.memory && !rendered.resources.cgroups.empty()) {
    supervision.sockets = {.limit_bytes = count(*plan.limits.memory),
                           .used = [&rendered] { return rendered.resources.socket_memory(); }};
  }
  EgressSession egress(plan, events);
  if (egress.wanted()) {
    supervision.on_network = [&egress](spawn::OpenedNetwork network) { return egress.start(std::move(network)); };
  }
  // Before the start: a jail may still be on its way, and after the end somebody waits for us.
  Digests digests{.policy = digest_of_policy(), .plan = plan_digest(plan)};
  Result<spawn::Ended> ended = spawn::supervise(supply_, rendered.launch, supervision, stop);
  // However it ended: whatever started could write.
  GitReview review = prepared.git.review(review_deadline(called, plan.limits.wall));
  emit_git_review(config_.events, review);
  if (!ended) return fail(explain_failure(std::move(ended).error(), plan.tool.name, prepared.tool.exec_path));
  TRY(judge_git_review(plan, review, rendered));
  const std::uint64_t oom_kills = TRY(rendered.resources.oom_kills());
  // What we did to it, and what the kernel's counter says, needs no witness inside; anything else does.
  if (ended->fate_unknown && ended->by == spawn::EndedBy::kItself && oom_kills == 0) {
    return fail(jail_died(rendered.jail, ended->wait_status));
  }
  JailedSubprocessResult result;
  result.denials = egress.stop();
  result.git_findings = std::move(review.findings);
  result.outcome = verdict(*ended, oom_kills, plan.limits, result.denials);
  result.receipt = receipt_for(prepared, rendered, std::move(digests), *ended, egress);
  result.duration = ended->duration + notes.spent;
  result.usage = ended->usage;
  if (ended->scratch) result.scratch = SandboxedPath::from_fd(std::move(ended->scratch));
  emit_truncation(events, plan, Stream::kStdout, ended->stdout_stream);
  emit_truncation(events, plan, Stream::kStderr, ended->stderr_stream);
  result.stdout_stream = std::move(ended->stdout_stream);
  result.stderr_stream = std::move(ended->stderr_stream);
  return result;
}

// Probing is doing: the first jail that can be built is used. A host that cannot build one is not asked twice how it is;
// the kernel answers in microseconds, and a stale "no" would outlive the sysctl that caused it.
Result<JailedSubprocessResult> Engine::run_auto(Prepared& prepared, const JailedSubprocessSpec& spec,
                                                const std::stop_token& stop) {
  Result<JailedSubprocessResult> native = run_informed(JailKind::kNative, prepared, spec, stop);
  if (native || !host_cannot_jail(native.error())) return native;
  Result<JailedSubprocessResult> bwrap = run_informed(JailKind::kBwrap, prepared, spec, stop);
  if (bwrap || !host_cannot_jail(bwrap.error())) return bwrap;
  Error neither = jail_unavailable(
      "auto", fmt::format("native: {}; bwrap: {}", native.error().message, bwrap.error().message), native.error().hint);
  const bool missing = bwrap.error().as<ToolMissingError>() != nullptr;
  std::get<JailUnavailable>(neither.detail).problem = missing ? JailProblem::kNotInstalled : JailProblem::kNotUsable;
  return fail(std::move(neither));
}

Result<JailedSubprocessResult> Engine::run(const JailedSubprocessSpec& spec, JailKind jail, std::stop_token stop) {
  Prepared prepared = TRY(prepare(config_, hashes_, child_path_, spec));
  if (jail != JailKind::kNone) TRY(look_at_writable_places(prepared));
  Result<JailedSubprocessResult> result =
      jail == JailKind::kAuto ? run_auto(prepared, spec, stop) : run_informed(jail, prepared, spec, stop);
  hashes_.distrust(prepared.plan.extra_read_write);
  return result;
}

Result<JailedSubprocessResult> Engine::ask_git(JailKind jail, const JailedSubprocessSpec& question,
                                               const GateConfig& config, const std::stop_token& stop) {
  Prepared prepared = TRY(prepare(config, hashes_, child_path_, question));
  for (EnvVar& var : git_version_env()) prepared.plan.env.push_back(std::move(var));
  return run_in(jail, prepared, question, stop, {.silent = true});
}

void Engine::warn_of_newer_git(const std::string& version) {
  if (config_.events == nullptr || !is_newer_than_known_git(version)) return;
  std::call_once(warned_of_git_, [&] {
    config_.events->emit({.level = EventLevel::kWarning,
                          .name = "subproc.git.newer_than_known",
                          .fields = {{"version", printable(version)}, {"newest_known", std::string(kNewestKnownGit)}}});
  });
}

Result<JailedSubprocessResult> Engine::run_informed(JailKind jail, Prepared& prepared, const JailedSubprocessSpec& spec,
                                                    const std::stop_token& stop) {
  const std::optional<GitQuestion> question = git_question(prepared.plan.tool, spec.argv);
  if (!question) return run_in(jail, prepared, spec, stop);
  // Nothing starts, not even a question, for a call that lacks what it requires. The hosts it may reach are not the
  // question's, so only then the two differ in what they establish.
  if (!prepared.plan.allowed_hosts.empty()) {
    const Rendered rendered = TRY(render(jail, prepared, Purpose::kExplain));
    TRY(check_required(prepared.plan, rendered));
  }
  JailedSubprocessSpec asked = spec;
  asked.repo = prepared.plan.repo;
  asked.cwd = prepared.plan.cwd;
  asked.repo_access = RepoAccess::kReadOnly;  // a question writes nothing, and nobody reviews it
  GateConfig config = config_;
  // A tool that may start git does so whether or not the caller's policy has git in it.
  if (!question->tool_is_git) config.allowlist = Allowlist::builtin();
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  };
  Result<GitLearnt> learnt = learn_git_configuration(*question, asked, [&](const JailedSubprocessSpec& one) {
    JailedSubprocessSpec next = one;
    next.limits.wall = remaining(spec.limits.wall, spent());
    return ask_git(jail, next, config, stop);
  });
  const bool no_git = !learnt && !question->tool_is_git && learnt.error().as<ToolMissingError>() != nullptr;
  if (no_git) return run_in(jail, prepared, spec, stop);
  if (!learnt) return fail(std::move(learnt).error());
  if (learnt->ended) return *std::move(learnt->ended);
  warn_of_newer_git(learnt->version);
  TRY(apply_git_configuration(prepared, config_, child_path_, spec, learnt->configuration));
  return run_in(jail, prepared, spec, stop, {.spent = spent()});
}

Result<Explanation> Engine::explain(const JailedSubprocessSpec& spec, JailKind jail) {
  Prepared prepared = TRY(prepare(config_, hashes_for(Purpose::kExplain), child_path_, spec));
  if (jail == JailKind::kAuto) jail = TRY(expected_jail(read_host_switches(), ::geteuid()));
  if (jail != JailKind::kNone) TRY(look_at_writable_places(prepared));
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
  Prepared prepared = TRY(prepare(config_, hashes_, child_path_, spec));
  TRY(look_at_writable_places(prepared));
  const Rendered rendered =
      TRY(render_native(prepared, Purpose::kRun));  // whether it joins a cgroup is known only then
  return supply_.keep_warm(rendered.launch);
}

namespace {

// What the caller's shell may have taken from us. Said here, in its words: where it is missed, the kernel only kills
// (SIGXFSZ), or a helper that cannot say why is gone.
Status check_own_limits() {
  constexpr rlim_t kFiles = 64;
  constexpr rlim_t kFileSize = rlim_t{1} << 20U;
  rlimit files{};
  rlimit size{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || ::getrlimit(RLIMIT_FSIZE, &size) != 0) {
    return fail(system_error("read", "the limits of this process", errno));
  }
  if (files.rlim_cur < kFiles) {
    return fail(system_error("start anything", fmt::format("with {} open files at most", files.rlim_cur), EMFILE,
                             fmt::format("raise the limit with 'ulimit -n {}'", kFiles)));
  }
  if (size.rlim_cur < kFileSize) {
    return fail(system_error("start anything", fmt::format("with files of {} bytes at most", size.rlim_cur), EFBIG,
                             "raise the limit with 'ulimit -f 1024'; a jail is made of small files in memory"));
  }
  return {};
}

Status check_and_complete(GateConfig& config) {
  TRY(check_own_limits());
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

Result<std::unique_ptr<Gate>> open_gate_for_one_run(GateConfig config) {
  TRY(check_and_complete(config));
  auto engine = std::make_unique<Engine>(std::move(config), spawn::SupplyFor::kOneRun);
  engine->start_jail_ahead();
  return engine;
}

}  // namespace sallyport
