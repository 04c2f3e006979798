// One run in one jail: staged, checked, supervised, judged, and its receipt.
#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/json/json.h"
#include "gate/egress_session.h"
#include "gate/engine.h"
#include "gate/git_report.h"
#include "gate/layers.h"
#include "gate/persistence_review.h"
#include "gate/staging.h"
#include "gate/verdict.h"
#include "gate/why.h"
#include "sallyport/event_name.h"
#include "spawn/owner/supervise.h"

namespace sallyport {
namespace {

// At least one millisecond, so that a run without time left ends as one that ran out of time.
std::chrono::milliseconds remaining(std::chrono::milliseconds wall, std::chrono::microseconds spent) {
  return std::max(wall - std::chrono::duration_cast<std::chrono::milliseconds>(spent), std::chrono::milliseconds(1));
}

std::string probe_name(const Plan& plan) { return plan.probe ? plan.probe->str() : std::string(); }

void announce(EventSink* events, const Jail& jail, const Plan& plan) {
  if (events == nullptr || jail.confinement() == Confinement::kNone) return;
  events->emit(
      {.level = EventLevel::kDebug,
       .name = jail.event_name(),
       .fields = {{"probe_name", probe_name(plan)}, {"egress", plan.allowed_hosts.empty() ? "false" : "true"}}});
}

void emit_truncation(EventSink* events, const Plan& plan, Stream stream, const CapturedStream& captured) {
  if (events == nullptr || !captured.truncated) return;
  events->emit(
      {.level = EventLevel::kWarning,
       .name = event_name::kStdoutTruncated,
       .fields = {{"probe_name", probe_name(plan)}, {"stream", stream == Stream::kStdout ? "stdout" : "stderr"}}});
}

// Warns of a requested limit that something weaker than a cgroup enforces.
void emit_weaker_limits(EventSink* events, const Plan& plan, const Resources& resources) {
  if (events == nullptr) return;
  for (const Established& entry : resources.established) {
    if (!is_weaker_than_cgroup(entry.mechanism)) continue;
    events->emit({.level = EventLevel::kWarning,
                  .name = event_name::kLimitWeaker,
                  .fields = {{"probe_name", probe_name(plan)},
                             {"guarantee", std::string(name_of(entry.guarantee))},
                             {"mechanism", std::string(name_of(entry.mechanism))},
                             {"hint", std::string(kNoCgroupHint)}}});
  }
}

spawn::Supervision supervision_of(const Jail& jail, const Plan& plan, const JailedSubprocessSpec& spec,
                                  const Resources& resources, std::chrono::microseconds spent) {
  spawn::Supervision supervision{.wall = remaining(plan.limits.wall, spent),
                                 .ladder = plan.ladder,
                                 .max_output = plan.limits.output,
                                 .disk_quota = plan.limits.disk.value_or(kDefaultDiskQuota),
                                 .stdin_source = spec.stdin_source,
                                 .output_pipes = spec.output_pipes,
                                 .tap = spec.tap,
                                 .tap_waits_for = spec.tap_waits_for,
                                 .stop_fd = spec.stop_fd,
                                 .jail = jail.kind()};
  if (plan.limits.cpu && resources.cpu_time()) {
    supervision.cpu = {.limit = *plan.limits.cpu, .used = [&resources] { return resources.cpu_time(); }};
  }
  if (plan.limits.memory && !resources.cgroups.empty()) {
    supervision.sockets = {.limit_bytes = count(*plan.limits.memory),
                           .used = [&resources] { return resources.socket_memory(); }};
  }
  if (resources.watch_memory) supervision.memory = {.limit_bytes = count(*plan.limits.memory)};
  return supervision;
}

// The git review knows where pointers lead, when it has looked at everything.
persistence::GitPointers pointers_after(const GitReview& review, const Plan& plan) {
  const bool followed = plan.git_access == GitAccess::kProtected && review.incomplete.empty();
  return followed ? persistence::GitPointers::kReviewed : persistence::GitPointers::kReported;
}

Receipt receipt_before_start(const Jail& jail, const Prepared& prepared, const std::string& policy_digest) {
  return {.jail = jail.kind(),
          .binary = prepared.tool->identity,
          .interpreters = prepared.tool->interpreters,
          .policy_digest = policy_digest,
          .plan_digest = plan_digest(prepared.plan)};
}

// All that is known once everything of a run is dead.
struct FinishedRun {
  const Jail& jail;
  const StagedRun& staged;
  const EngineCallHost& host;
  const Prepared& prepared;
  const JailedSubprocessSpec& spec;
  spawn::Ended ended;
  GitReview review;
  PersistenceReview left;
};

Result<JailedSubprocessResult> result_of(FinishedRun run, EgressSession& egress, Receipt receipt) {
  const Plan& plan = run.prepared.plan;
  spawn::Ended& ended = run.ended;
  TRY(keep_layers(run.spec, plan));
  receipt.run_as = ended.facts.run_as;
  receipt.established = with_gates_part(run.jail, run.staged.established(ended.facts), run.host, run.prepared);
  TRY(judge_git_review(plan, run.review, receipt.established));
  const std::uint64_t oom_kills = TRY(run.host.resources().oom_kills()) + ended.guests_oom_kills;
  // What we did to the run, and what the kernel's counter says, needs no report from inside; anything else does.
  if (ended.fate_unknown && ended.by == spawn::EndedBy::kItself && oom_kills == 0) {
    return fail(jail_died(run.jail.kind(), ended.wait_status));
  }
  JailedSubprocessResult result;
  result.denials = TRY(egress.stop());
  result.git_findings = std::move(run.review.findings);
  result.persistence = std::move(run.left.findings);
  result.persistence_incomplete = std::move(run.left.incomplete);
  result.outcome = verdict(ended, oom_kills, plan.limits, result.denials,
                           plan.strict_network ? NetworkMode::kStrict : NetworkMode::kLenient);
  result.receipt = std::move(receipt);
  result.duration = ended.duration;
  result.usage = ended.usage;
  if (ended.scratch) result.scratch = SandboxedPath::from_fd(std::move(ended.scratch));
  result.stdout_stream = std::move(ended.stdout_stream);
  result.stderr_stream = std::move(ended.stderr_stream);
  return result;
}

}  // namespace

const std::string& Engine::digest_of_policy() {
  std::call_once(policy_digested_, [this] { policy_digest_ = policy_digest(config_.allowlist); });
  return policy_digest_;
}

Result<JailedSubprocessResult> Engine::run_in(Jail& jail, Prepared& prepared, const JailedSubprocessSpec& spec,
                                              const std::stop_token& stop, RunNotes notes) {
  const Plan& plan = prepared.plan;
  EventSink* const events = notes.silent ? nullptr : config_.events;
  // An owner killed by SIGKILL could not remove its cgroups, so the next owner does.
  if (plan.limits.memory || plan.limits.pids || plan.limits.cpu) {
    std::call_once(swept_, [] { static_cast<void>(sweep_stale_cgroups()); });
  }
  const auto called = std::chrono::steady_clock::now() - notes.spent;
  EngineCallHost host = host_for(prepared, Purpose::kRun);
  const Staging staging = TRY(stage(jail, host, prepared, Purpose::kRun, notes.silent));
  announce(events, jail, plan);
  emit_doubts(events, prepared);
  const Resources& resources = host.resources();
  emit_weaker_limits(events, plan, resources);
  spawn::Supervision supervision = supervision_of(jail, plan, spec, resources, notes.spent);
  supervision.layers = watch_layers(spec);
  EgressSession egress(plan, events);
  supervision.on_network = [&egress](NetworkOpened network) { return egress.start(std::move(network)); };
  supervision.on_started = [&](const RunFacts& facts) {
    return check_established(jail, *staging.run, facts, host, prepared);
  };
  // Do this before the start: a jail may still be starting, and after the run's end the caller waits for us.
  Receipt receipt = receipt_before_start(jail, prepared, digest_of_policy());
  const PersistenceWatch persistence(plan);
  Result<spawn::Ended> ended = spawn::supervise(*staging.run, supervision, stop);
  // Review however the run ended: anything that started could write.
  GitReview review = prepared.git.review(review_deadline(called, plan.limits.wall));
  emit_git_review(config_.events, review);
  PersistenceReview left = persistence.review(review_deadline(called, plan.limits.wall), pointers_after(review, plan));
  emit_persistence(config_.events, left);
  if (!ended) return fail(explain_failure(std::move(ended).error(), plan.tool.name, prepared.tool->exec_path));
  const bool started = ended->tool_started;
  Result<JailedSubprocessResult> result =
      result_of({jail, *staging.run, host, prepared, spec, std::move(*ended), std::move(review), std::move(left)},
                egress, std::move(receipt));
  if (!result) {
    result.error().tool_may_have_started = started;
    return result;
  }
  result->duration += notes.spent;
  emit_truncation(events, plan, Stream::kStdout, result->stdout_stream);
  emit_truncation(events, plan, Stream::kStderr, result->stderr_stream);
  return result;
}

}  // namespace sallyport
