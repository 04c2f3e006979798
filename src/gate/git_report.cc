#include "gate/git_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.h"
#include "core/text/printable.h"
#include "gate/protected_paths.h"
#include "sallyport/event_name.h"

namespace sallyport {

std::chrono::steady_clock::time_point review_deadline(std::chrono::steady_clock::time_point called,
                                                      std::chrono::milliseconds wall) {
  return called + wall + wall * 2 / 5;
}

Status survey_writable_places(Prepared& prepared) {
  prepared.git = TRY(GitGuard::look(prepared.plan));
  prepared.write_doubt = doubtful_protection(prepared.plan);
  return {};
}

void emit_doubts(EventSink* events, const Prepared& prepared) {
  const auto emit = [events](std::string_view name, const std::string& reason) {
    if (events == nullptr || reason.empty()) return;
    events->emit({.level = EventLevel::kWarning, .name = name, .fields = {{"reason", reason}}});
  };
  if (prepared.plan.git_access == GitAccess::kProtected) emit(event_name::kGitUnprotected, prepared.git.weakness());
  emit(event_name::kRoUnprotected, prepared.write_doubt);
  if (events == nullptr || !prepared.plan.lists_git_configuration) return;
  for (const HiddenGit& hidden : prepared.hidden_git) {
    const std::string path = printable(hidden.path.native());
    events->emit(
        {.level = EventLevel::kWarning,
         .name = event_name::kGitNotShown,
         .fields = {
             {"path", path}, {"reason", hidden.why}, {"hint", "if it is yours to show: `extra_read_only` " + path}}});
  }
}

void emit_git_review(EventSink* events, const GitReview& review) {
  if (events == nullptr) return;
  for (const GitFinding& finding : review.findings) {
    events->emit({.level = EventLevel::kWarning,
                  .name = event_name::kGitTakenBack,
                  .fields = {{"path", finding.path}, {"what", finding.what}, {"action", finding.action}}});
  }
  if (review.incomplete.empty()) return;
  events->emit(
      {.level = EventLevel::kWarning, .name = event_name::kGitUnreviewed, .fields = {{"reason", review.incomplete}}});
}

Status judge_git_review(const Plan& plan, const GitReview& review, std::vector<Established>& established) {
  if (review.incomplete.empty()) return {};
  std::erase_if(established, [](const Established& e) { return e.guarantee == Guarantee::kFsGitProtected; });
  if (std::ranges::find(plan.required, Guarantee::kFsGitProtected) == plan.required.end()) return {};
  return fail(guarantee_unavailable(Guarantee::kFsGitProtected,
                                    fmt::format("the run is over, but not reviewed: {}", review.incomplete),
                                    "look for new hooks and configuration before you use git there"));
}

}  // namespace sallyport
