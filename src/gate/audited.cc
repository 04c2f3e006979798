#include "gate/audited.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/errors.h"
#include "core/view/fs_view.h"
#include "core/view/paths.h"
#include "gate/layers.h"
#include "gate/repo_commit.h"
#include "gate/second_names.h"
#include "os/canonical.h"
#include "sallyport/event_name.h"
#include "workspace/impl.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

// Resolves the part of the path that exists: what is created later lies below it.
fs::path settled(const fs::path& path) {
  std::error_code error;
  fs::path found = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : found;
}

// Also detects a path that lies there through a bind mount.
Status check_apart(const fs::path& log, const fs::path& other, std::string_view where) {
  if (!overlap(log, other) && !TRY(have_second_names(log, other))) return {};
  return fail(invalid_request("audit", fmt::format("the log {} lies {}", log.native(), where),
                              "keep the log elsewhere with `audit`: a recorded tool must not reach its records"));
}

LogReach reach_of(const AuditCall& call) {
  LogReach reach{.repo = call.repo, .writable = call.spec.extra_read_write};
  const std::optional<WorkspaceOptions>& named = call.spec.named_workspace;
  if (named && !named->state_dir.empty()) reach.workspaces.push_back(named->state_dir);
  for (Workspace* const workspace : workspaces_of(call.spec)) {
    if (workspace == nullptr) continue;
    reach.workspaces.push_back(workspace->impl().state_path().parent_path());
    // What a tool writes to a workspace may later be committed to the workspace's repo.
    reach.writable.push_back(workspace->repo());
  }
  return reach;
}

Status check_out_of_reach(const AuditSink& sink, const AuditCall& call) {
  const std::vector<fs::path> places = sink.places();
  if (places.empty()) return {};
  const LogReach reach = reach_of(call);
  for (const fs::path& log : places) TRY(check_log_place(log, reach));
  return {};
}

bool goes_on_without(const GateConfig& config, const Error& error) {
  if (config.audit->on_failure() != AuditFailure::kGoOn) return false;
  if (config.allowlist.audit_need() == AuditNeed::kRequired) return false;
  warn_unrecorded(config, error);
  return true;
}

}  // namespace

Status check_log_place(const fs::path& log, const LogReach& reach) {
  const fs::path place = settled(log);
  const Result<fs::path> repo = canonical_existing(reach.repo, "repo");
  const bool is_repo = repo && check_not_whole_host("repo", repo->native());
  if (is_repo) TRY(check_apart(place, *repo, "in the analysed repo"));
  for (const fs::path& path : reach.writable) {
    const Result<fs::path> writable = canonical_existing(path);
    if (writable) TRY(check_apart(place, *writable, "below a path that the tool may write"));
  }
  for (const fs::path& path : reach.workspaces) {
    TRY(check_apart(place, settled(path), "where workspaces are kept"));
  }
  return {};
}

void warn_unrecorded(const GateConfig& config, const Error& error) {
  if (config.events == nullptr) return;
  config.events->emit({.level = EventLevel::kWarning,
                       .name = event_name::kAuditFailed,
                       .fields = {{"reason", error.message}, {"hint", error.hint}}});
}

Error record_refusal(const GateConfig& config, AuditCall call, const Error& why) {
  if (config.audit == nullptr || !check_out_of_reach(*config.audit, call)) return why;
  call.commit = repo_commit(call.repo);
  const Status recorded = config.audit->refused(call, why);
  return recorded || goes_on_without(config, recorded.error()) ? why : recorded.error();
}

Result<JailedSubprocessResult> run_audited(const GateConfig& config, AuditCall call, const Perform& perform) {
  if (config.audit == nullptr) {
    if (config.allowlist.audit_need() == AuditNeed::kOptional) return perform();
    return fail(invalid_request("audit", "the policy requires an audit log, and there is none",
                                "name a place for one with `audit`"));
  }
  TRY(check_out_of_reach(*config.audit, call));
  call.commit = repo_commit(call.repo);
  const Result<std::string> run = config.audit->begin(call);
  if (!run && !goes_on_without(config, run.error())) return fail(run.error());
  Result<JailedSubprocessResult> result = perform();
  if (!run) return result;
  const Status recorded = config.audit->end(*run, call, result);
  if (!recorded && !goes_on_without(config, recorded.error())) {
    Error unrecorded = recorded.error();
    unrecorded.tool_may_have_started = result ? true : result.error().tool_may_have_started;
    return fail(std::move(unrecorded));
  }
  if (result && recorded) result->audit_run = *run;
  return result;
}

}  // namespace sallyport
