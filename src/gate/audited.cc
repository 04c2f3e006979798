#include "gate/audited.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/errors.h"
#include "core/view/fs_view.h"
#include "core/view/paths.h"
#include "gate/layers.h"
#include "gate/repo_commit.h"
#include "os/canonical.h"
#include "workspace/impl.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

Error too_near(const fs::path& log, std::string_view where) {
  return invalid_request("audit", fmt::format("the log {} lies {}", log.native(), where),
                         "keep the log elsewhere with `audit`: who is recorded must not reach the records");
}

// Whoever could write the log, or whose repo it would be part of, could also decide what it says. What does not exist, or is the
// whole host, is refused later, in the call's own words.
Status check_out_of_reach(const AuditSink& sink, const AuditCall& call) {
  for (const fs::path& log : sink.places()) {
    const Result<fs::path> repo = canonical_existing(call.repo, "repo");
    const bool is_repo = repo && check_not_whole_host("repo", repo->native());
    if (is_repo && overlap(log, *repo)) return fail(too_near(log, "in the analysed repo"));
    for (const fs::path& path : call.spec.extra_read_write) {
      const Result<fs::path> writable = canonical_existing(path);
      if (writable && overlap(log, *writable)) return fail(too_near(log, "below a path that the tool may write"));
    }
    // What a tool writes to a workspace lies in its private part, and may go back to its directory.
    for (Workspace* const workspace : workspaces_of(call.spec)) {
      if (workspace == nullptr) continue;
      const fs::path state = workspace->impl().state_path().parent_path();
      if (overlap(log, state)) return fail(too_near(log, "where workspaces are kept"));
      if (overlap(log, workspace->repo())) return fail(too_near(log, "below a workspace's directory"));
    }
  }
  return {};
}

bool goes_on_without(const GateConfig& config, const Error& error) {
  if (config.audit->on_failure() != AuditFailure::kGoOn) return false;
  if (config.allowlist.audit_need() == AuditNeed::kRequired) return false;
  warn_unrecorded(config, error);
  return true;
}

}  // namespace

void warn_unrecorded(const GateConfig& config, const Error& error) {
  if (config.events == nullptr) return;
  config.events->emit({.level = EventLevel::kWarning,
                       .name = "subproc.audit.failed",
                       .fields = {{"reason", error.message}, {"hint", error.hint}}});
}

Error record_refusal(const GateConfig& config, AuditCall call, const Error& why) {
  if (config.audit == nullptr) return why;
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
  if (const Status apart = check_out_of_reach(*config.audit, call); !apart) {
    return fail(record_refusal(config, call, apart.error()));
  }
  call.commit = repo_commit(call.repo);
  const Result<std::string> run = config.audit->begin(call);
  if (!run && !goes_on_without(config, run.error())) return fail(run.error());
  Result<JailedSubprocessResult> result = perform();
  if (!run) return result;
  const Status recorded = config.audit->end(*run, call, result);
  if (!recorded && !goes_on_without(config, recorded.error())) return fail(recorded.error());
  if (result && recorded) result->audit_run = *run;
  return result;
}

}  // namespace sallyport
