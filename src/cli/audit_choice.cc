#include "cli/audit_choice.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "sallyport/event_name.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

bool is_absolute_path(const std::optional<std::string>& value) { return value && value->starts_with('/'); }

// The directory that must exist already: we never make a missing home or state directory (a service's
// HOME=/nonexistent).
fs::path base_of_state(const Environment& environment) {
  if (is_absolute_path(environment.xdg_state_home)) return *environment.xdg_state_home;
  return is_absolute_path(environment.home) ? fs::path(*environment.home) : fs::path();
}

}  // namespace

std::optional<std::string> make_default_audit_directory(const Environment& environment) {
  const fs::path directory = default_audit_directory(environment);
  const fs::path base = base_of_state(environment);
  if (base.empty()) return "neither XDG_STATE_HOME nor HOME names a directory";
  struct stat info{};
  if (::stat(base.c_str(), &info) != 0) return fmt::format("{}: {}", base.native(), errno_text(errno));
  if (::lstat(directory.c_str(), &info) == 0) return std::nullopt;  // it exists; the log checks whether it is usable
  if (::stat(base.c_str(), &info) == 0 && info.st_uid != ::geteuid() && (info.st_mode & S_IWOTH) == 0) {
    return fmt::format("{} belongs to another user", base.native());
  }
  fs::path made = base;
  for (const fs::path& part : directory.parent_path().lexically_relative(base)) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST)
      return fmt::format("{}: {}", made.native(), errno_text(errno));
  }
  if (::access(made.c_str(), W_OK | X_OK) != 0) return fmt::format("{}: {}", made.native(), errno_text(errno));
  return std::nullopt;
}

Status set_audit_sync(AuditChoice& choice, std::string_view value) {
  if (value == "always") choice.sync = AuditSync::kAlways;
  if (value == "group") choice.sync = AuditSync::kGroup;
  if (value == "none") choice.sync = AuditSync::kNone;
  if (value == "always" || value == "group" || value == "none") return {};
  return fail(invalid_request("audit-sync", fmt::format("there is no '{}'", value), "one of: always, group, none"));
}

fs::path default_audit_directory(const Environment& environment) {
  if (is_absolute_path(environment.xdg_state_home))
    return fs::path(*environment.xdg_state_home) / "sallyport" / "audit";
  if (is_absolute_path(environment.home))
    return fs::path(*environment.home) / ".local" / "state" / "sallyport" / "audit";
  return {};
}

Result<std::unique_ptr<AuditSink>> open_audit(const AuditChoice& choice, const Environment& environment,
                                              std::string label, const LogReach& reach, EventSink& events) {
  if (choice.off) return nullptr;
  const bool named = choice.directory.has_value();
  const fs::path directory =
      named ? environment.current_directory / *choice.directory : default_audit_directory(environment);
  if (!directory.empty()) TRY(check_log_place(directory, reach));
  if (!named) {
    if (const std::optional<std::string> why = make_default_audit_directory(environment)) {
      events.emit({.level = EventLevel::kWarning,
                   .name = event_name::kAuditSkipped,
                   .fields = {{"reason", *why}, {"hint", "name a place with --audit DIR, or say --no-audit"}}});
      return nullptr;
    }
  }
  Result<std::unique_ptr<AuditSink>> log = open_audit_log(
      {.directory = directory, .sync = choice.sync, .on_failure = choice.on_failure, .label = std::move(label)});
  if (log || choice.on_failure == AuditFailure::kRefuse) return log;
  events.emit({.level = EventLevel::kWarning,
               .name = event_name::kAuditFailed,
               .fields = {{"reason", log.error().message}, {"hint", log.error().hint}}});
  return nullptr;
}

}  // namespace sallyport::cli
