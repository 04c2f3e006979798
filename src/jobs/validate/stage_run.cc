#include "jobs/validate/stage_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kTail = 4000;

std::string tail_of(const std::string& bytes) {
  std::string_view text = bytes;
  if (text.size() > kTail) text.remove_prefix(text.size() - kTail);
  std::string safe;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    safe += shown(text.substr(0, end));
    safe += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return safe;
}

// Buffers an incomplete line, and passes on each complete one.
OutputTap line_tap(const ValidateOptions& options, StageId stage) {
  if (!options.said) return {};
  return [&options, stage, line = std::string()](Stream, std::string_view piece) mutable {
    constexpr std::size_t kLongest = 400;
    for (const char c : piece) {
      if (c == '\n' && !line.empty()) options.said(stage, line);
      if (c == '\n') line.clear();
      if (c != '\n' && line.size() < kLongest) line += c;
    }
  };
}

HostRule with_budget(const HostRule& rule, ByteCount most) {
  HostRuleFields fields = rule.fields();
  fields.max_down = fields.max_down.value_or(most);
  return HostRule::of(std::move(fields)).value_or(rule);
}

JailedSubprocessSpec spec_for(const StageSetup& setup, StageId stage, const StepRequest& request, milliseconds left) {
  const ValidateOptions& options = *setup.options;
  JailedSubprocessSpec spec{.argv = request.argv,
                            .repo = setup.context->repo,
                            .cwd = setup.context->repo,
                            .workspace = setup.workspace,
                            .limits = {.wall = std::min<milliseconds>(left, kLongestTimeout),
                                       .output = request.max_output,
                                       .memory = setup.context->memory,
                                       .pids = options.pids,
                                       .disk = options.disk},
                            .tap = line_tap(options, stage)};
  if (setup.workspace != nullptr) spec.required = {Guarantee::kFsRepoUntouched};
  if (request.cache != nullptr) spec.overlays = {request.cache};
  if (request.scripts == Scripts::kOn) spec.allow_package_scripts = AllowPackageScripts();
  if (request.network == Network::kRegistry) {
    setup.registry->apply_to(spec);
    spec.allowed_hosts.insert(spec.allowed_hosts.end(), setup.more_hosts.begin(), setup.more_hosts.end());
    // A fetch may not exceed what may be written.
    for (HostRule& rule : spec.allowed_hosts) rule = with_budget(rule, options.disk);
  }
  return spec;
}

// The process limit is ours, not the caller's: if this host cannot count processes, we drop the limit and say so.
bool leave_out_limit(const StageSetup& setup, const Error& error, JailedSubprocessSpec& spec) {
  const auto* const missing = error.as<GuaranteeUnavailable>();
  if (missing == nullptr) return false;
  if (missing->guarantee != Guarantee::kLimitPids || !spec.limits.pids) return false;
  spec.limits.pids.reset();
  std::string note = fmt::format("this host cannot set {}: {}", sallyport::name_of(missing->guarantee), error.message);
  if (std::ranges::find(*setup.notes, note) == setup.notes->end()) setup.notes->push_back(std::move(note));
  return true;
}

}  // namespace

Step run_step(const StageSetup& setup, StageId stage, const StepRequest& request, std::string* out) {
  Step step{.argv = request.argv};
  const auto left =
      std::chrono::duration_cast<milliseconds>(setup.context->deadline - std::chrono::steady_clock::now());
  if (left <= milliseconds::zero()) {
    step.outcome = TimedOut{};
    return step;
  }
  JailedSubprocessSpec spec = spec_for(setup, stage, request, left);
  Result<JailedSubprocessResult> result = setup.context->gate->run(spec, setup.options->jail, setup.context->stop);
  while (!result && leave_out_limit(setup, result.error(), spec)) {
    result = setup.context->gate->run(spec, setup.options->jail, setup.context->stop);
  }
  if (!result) {
    step.refusal = std::move(result).error();
    return step;
  }
  step.outcome = result->outcome;
  step.duration = result->duration;
  step.usage = result->usage;
  step.receipt = std::move(result->receipt);
  step.denials = std::move(result->denials);
  step.stdout_tail = tail_of(result->stdout_stream.bytes);
  step.stderr_tail = tail_of(result->stderr_stream.bytes);
  if (out != nullptr) *out = std::move(result->stdout_stream.bytes);
  return step;
}

void settle(StageResult& stage, Step step) {
  StepState state = state_of(step);
  stage.state = state.state;
  stage.why = std::move(state.why);
  stage.steps.push_back(std::move(step));
}

}  // namespace sallyport::jobs
