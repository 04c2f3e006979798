#include "cli/verdict.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <variant>

#include "core/text/units.h"
#include "sallyport/limits.h"

namespace sallyport::cli {

std::string signal_name(int number) {
  const char* const name = sigabbrev_np(number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

namespace {

std::string killed(std::string_view tool) { return fmt::format("killed {} and everything it started", tool); }

Verdict of_completed(const Completed& completed, std::string_view tool) {
  const Signal* const signal = std::get_if<Signal>(&completed.fate);
  if (signal == nullptr) return {};
  return {.line = fmt::format("{} ended by {}", tool, signal_name(signal->number)), .hint = {}};
}

std::string of_oom(const OomKilled& oom, std::string_view tool) {
  const std::string limit = format_bytes(ByteCount{oom.limit_bytes});
  if (oom.by == OomBy::kWatch) {
    return fmt::format("out of memory at {}, {} when measured: {}", limit, format_bytes(ByteCount{oom.measured_bytes}),
                       killed(tool));
  }
  if (oom.socket_bytes > 0) {
    return fmt::format("out of memory at {}, {} in socket buffers: {}", limit,
                       format_bytes(ByteCount{oom.socket_bytes}), killed(tool));
  }
  std::string line =
      fmt::format("out of memory at {}: the kernel killed in {}'s own group {} time(s)", limit, tool, oom.oom_kills);
  // The tool may have outlived the process that the kernel killed.
  if (!oom.fate) return line;
  if (const ExitCode* const code = std::get_if<ExitCode>(&*oom.fate)) {
    line += fmt::format("; {} itself exited with {}", tool, code->value);
  }
  return line;
}

std::string place_of(std::string_view host, std::uint16_t port) {
  return port == 0 ? std::string(host) : fmt::format("{}:{}", host, port);
}

// More time does not help a tool that was denied a host and then only waited: report the denials first.
Verdict of_timeout(const TimedOut& timed_out, std::string_view tool, std::span<const Denial> denials) {
  std::string line = fmt::format("timed out after {}: {}", format_duration(timed_out.elapsed), killed(tool));
  std::string hint =
      fmt::format("raise --timeout (now {}), or give the tool less to do", format_duration(timed_out.limit));
  if (denials.empty()) return {.line = std::move(line), .hint = std::move(hint)};
  const Denial& first = denials.front();
  const std::string more = denials.size() > 1 ? fmt::format(" and {} more", denials.size() - 1) : "";
  return {.line = fmt::format("denied {}{} ({}), then {}", place_of(first.host, first.port), more, reason_text(first),
                              line),
          .hint = first.hint.empty() ? hint : fmt::format("{}; or {}", first.hint, hint)};
}

// Most installs need only the registry of the operator's own npm.
std::string of_denial_hint(std::string_view tool, std::span<const Denial> denials) {
  // A name that does not resolve, an address that nothing opens: no option helps.
  const bool helps = std::ranges::any_of(denials, [](const Denial& denial) { return !denial.hint.empty(); });
  if (!helps && !denials.empty()) return {};
  static constexpr std::string_view kEach = "each denial above names the option that would allow it";
  if (tool != "npm") return std::string(kEach);
  return fmt::format("{}; --allow-registry allows the registry of your own npm", kEach);
}

}  // namespace

Verdict verdict_of(const Outcome& outcome, std::string_view tool, int stop_signal, std::span<const Denial> denials) {
  return std::visit(
      overloaded{
          [&](const Completed& completed) { return of_completed(completed, tool); },
          [&](const TimedOut& timed_out) { return of_timeout(timed_out, tool, denials); },
          [&](const OomKilled& oom) {
            return Verdict{.line = of_oom(oom, tool), .hint = "raise --memory, or give the tool less to do"};
          },
          [&](const NetworkDenied& denied) {
            return Verdict{.line = fmt::format("network denied to {}: {} failed after that",
                                               place_of(denied.host, denied.port), tool),
                           .hint = of_denial_hint(tool, denials)};
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
