#include "cli/verdict.h"

#include <fmt/format.h>
#include <string.h>

#include <variant>

#include "core/text/units.h"
#include "sallyport/limits.h"

namespace sallyport::cli {
namespace {

std::string signal_name(int number) {
  const char* const name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string killed(std::string_view tool) { return fmt::format("killed {} and everything it started", tool); }

Verdict of_completed(const Completed& completed, std::string_view tool) {
  const Signal* const signal = std::get_if<Signal>(&completed.fate);
  if (signal == nullptr) return {};
  return {.line = fmt::format("{} ended by {}", tool, signal_name(signal->number)), .hint = {}};
}

std::string of_oom(const OomKilled& oom, std::string_view tool) {
  const std::string limit = format_bytes(ByteCount{oom.limit_bytes});
  if (oom.socket_bytes > 0) {
    return fmt::format("out of memory at {}, {} in socket buffers: {}", limit,
                       format_bytes(ByteCount{oom.socket_bytes}), killed(tool));
  }
  std::string line =
      fmt::format("out of memory at {}: the kernel killed in {}'s own group {} time(s)", limit, tool, oom.oom_kills);
  // The tool may have outlived what the kernel chose.
  if (!oom.fate) return line;
  if (const ExitCode* const code = std::get_if<ExitCode>(&*oom.fate)) {
    line += fmt::format("; {} itself exited with {}", tool, code->value);
  }
  return line;
}

}  // namespace

Verdict verdict_of(const Outcome& outcome, std::string_view tool, int stop_signal) {
  return std::visit(
      overloaded{
          [&](const Completed& completed) { return of_completed(completed, tool); },
          [&](const TimedOut& timed_out) {
            return Verdict{
                .line = fmt::format("timed out after {}: {}", format_duration(timed_out.elapsed), killed(tool)),
                .hint = fmt::format("raise --timeout (now {}), or give the tool less to do",
                                    format_duration(timed_out.limit))};
          },
          [&](const OomKilled& oom) {
            return Verdict{.line = of_oom(oom, tool), .hint = "raise --memory, or give the tool less to do"};
          },
          [&](const NetworkDenied& denied) {
            return Verdict{.line = denied.port == 0
                                       ? fmt::format("network denied to {}: {} failed after that", denied.host, tool)
                                       : fmt::format("network denied to {}:{}: {} failed after that", denied.host,
                                                     denied.port, tool),
                           .hint = "each refusal above names the option that would allow it"};
          },
          [&](const DiskQuotaExceeded& disk) {
            const std::string what = disk.files_used < disk.quota_files
                                         ? fmt::format("{} of {}", format_bytes(ByteCount{disk.bytes_used}),
                                                       format_bytes(ByteCount{disk.quota_bytes}))
                                         : fmt::format("{} files of {}", disk.files_used, disk.quota_files);
            return Verdict{.line = fmt::format("disk quota reached, {}: {}", what, killed(tool)),
                           .hint = "raise --disk, or give the tool less to do"};
          },
          [&](const Cancelled& cancelled) {
            return Verdict{.line = fmt::format("cancelled by {} after {}: {}", signal_name(stop_signal),
                                               format_duration(cancelled.elapsed), killed(tool)),
                           .hint = {}};
          },
      },
      outcome);
}

}  // namespace sallyport::cli
