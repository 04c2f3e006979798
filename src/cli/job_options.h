// The options that verbs of jobs have in common. A command has its JobOptions in `job`.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "cli/command_line.h"
#include "cli/job.h"
#include "core/errors.h"
#include "core/parse_units.h"
#include "jobs/report/finding.h"

namespace sallyport::cli {

template <class Command>
Status set_job_timeout(Command& command, std::string_view value) {
  command.job.timeout = TRY(parse_duration(value, "timeout"));
  return {};
}
template <class Command>
Status set_job_memory(Command& command, std::string_view value) {
  command.job.memory = TRY(parse_bytes(value, "memory"));
  return {};
}
template <class Command>
Status set_job_audit(Command& command, std::string_view value) {
  command.job.audit.directory = std::filesystem::path(value);
  return {};
}
template <class Command>
Status set_job_no_audit(Command& command, std::string_view /*value*/) {
  command.job.audit.off = true;
  return {};
}
// The one word such a verb takes: the repo.
template <class Command>
Status take_repo(Command& command, std::span<const std::string_view> words) {
  if (words.size() > 1) return fail(superfluous_word(words[1]));
  if (!words.empty()) command.job.repo = std::filesystem::path(words.front());
  return {};
}
// For --severity.
[[nodiscard]] inline Result<jobs::Severity> parse_severity(std::string_view value) {
  const std::optional<jobs::Severity> severity = jobs::severity_named(value);
  if (severity) return *severity;
  return fail(invalid_request("--severity", "unknown", "one of: info, low, medium, high, critical"));
}

}  // namespace sallyport::cli
