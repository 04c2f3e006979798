#include "jobs/report/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "jobs/report/text.h"
#include "sallyport/external_cli.h"

namespace sallyport::jobs {
namespace {

constexpr std::size_t kTail = 2000;

std::string tail_of(const ToolAnswer& answer) {
  std::string_view words = answer.err();  // never stdout: a finder of secrets prints them there
  if (words.size() > kTail) words.remove_prefix(words.size() - kTail);
  std::string text;
  for (const char c : scrub_tokens(words)) text += c == '\n' ? std::string(" | ") : std::string(1, c);
  return shown(text);
}

}  // namespace

ScannerOutcome outcome_of(const Error& error) {
  if (const auto* missing = error.as<ToolMissingError>()) {
    return ToolMissing{.tool = missing->tool, .install_hint = missing->install_hint};
  }
  return ScannerFailed{.why = error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint)};
}

std::optional<ScannerOutcome> why_no_answer(const ToolAnswer& answer) {
  const JailedSubprocessResult& result = answer.result;
  return std::visit(overloaded{[&](const Completed& completed) -> std::optional<ScannerOutcome> {
                                 if (const auto* signal = std::get_if<Signal>(&completed.fate)) {
                                   return failed(answer, fmt::format("ended by signal {}", signal->number));
                                 }
                                 if (result.stdout_stream.truncated || result.stderr_stream.truncated) {
                                   return failed(answer, "printed more than the output limit; half an answer is none");
                                 }
                                 return std::nullopt;
                               },
                               [](const TimedOut& late) -> std::optional<ScannerOutcome> { return late; },
                               [](const OomKilled& oom) -> std::optional<ScannerOutcome> { return oom; },
                               [](const NetworkDenied& denied) -> std::optional<ScannerOutcome> { return denied; },
                               [](const DiskQuotaExceeded& full) -> std::optional<ScannerOutcome> { return full; },
                               [](const Cancelled&) -> std::optional<ScannerOutcome> { return failed("cancelled"); }},
                    result.outcome);
}

ScannerFailed failed(const ToolAnswer& answer, std::string why) {
  return {.why = std::move(why), .tail = tail_of(answer), .invocations = {answer.invocation}};
}

ScannerFailed failed(std::string why) { return {.why = std::move(why)}; }

Error bad_request(std::string_view field, std::string_view why, std::string_view hint) {
  return {.detail = InvalidRequest{.field = std::string(field)},
          .message = fmt::format("invalid {}: {}", field, why),
          .hint = std::string(hint)};
}

ToolAnswer answer_of(std::vector<std::string> argv, JailedSubprocessResult result) {
  ToolAnswer answer{.result = std::move(result)};
  answer.invocation.argv = std::move(argv);
  answer.invocation.duration = answer.result.duration;
  answer.invocation.receipt = answer.result.receipt;
  if (const auto* completed = std::get_if<Completed>(&answer.result.outcome)) {
    if (const auto* code = std::get_if<ExitCode>(&completed->fate)) answer.invocation.exit_code = code->value;
    if (const auto* signal = std::get_if<Signal>(&completed->fate)) answer.invocation.signal = signal->number;
  }
  return answer;
}

ToolRun run_tool(const JobContext& context, ToolCall call) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(context.deadline - std::chrono::steady_clock::now());
  if (left <= milliseconds::zero()) return ScannerOutcome(TimedOut{});
  std::vector<std::string> argv = call.argv;
  ExternalCliOptions options{.cwd = context.repo,
                             .timeout = std::min<milliseconds>(left, kLongestTimeout),
                             .allowed_egress = {},
                             .max_output = call.max_output,
                             .memory = context.memory,
                             .extra_read_only = std::move(call.extra_read_only)};
  if (call.may_use_network) options.allowed_egress = context.allowed_egress;
  Result<JailedSubprocessResult> result =
      run_external_cli_whole(*context.gate, call.probe, std::move(call.argv), std::move(options), context.stop);
  if (!result) return outcome_of(result.error());
  ToolAnswer answer = answer_of(std::move(argv), *std::move(result));
  if (std::optional<ScannerOutcome> why = why_no_answer(answer)) return *std::move(why);
  return answer;
}

Status write_own_file(const std::filesystem::path& path, std::string_view content) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (out) return {};
  return fail({.detail = SystemError{.operation = "write", .error_number = 0},
               .message = fmt::format("cannot write {}", path.native()),
               .hint = "look whether the disk is full"});
}

}  // namespace sallyport::jobs
