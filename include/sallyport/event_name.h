// The name of every event the library and the CLI emit. docs/json.md lists their fields; tools/check_events.py compares the two,
// and fails when another file spells a name out. Names are API: programs read them in records (docs/contract.md, C18). Nothing
// here fails.
#pragma once

#include <string_view>

namespace sallyport::event_name {

// Debug: a jail stands, and its tool starts.
inline constexpr std::string_view kJailWrapped = "subproc.jail.wrapped";
inline constexpr std::string_view kBwrapWrapped = "subproc.bwrap.wrapped";  // C18 gives this jail a name of its own
inline constexpr std::string_view kBwrapSkipped = "subproc.bwrap.skipped";
inline constexpr std::string_view kJailWeaker = "subproc.jail.weaker";
inline constexpr std::string_view kLimitWeaker = "subproc.limit.weaker";
inline constexpr std::string_view kStdoutTruncated = "subproc.stdout.truncated";

inline constexpr std::string_view kEgressDenied = "subproc.egress.denied";
inline constexpr std::string_view kEgressUnreachable = "subproc.egress.unreachable";
inline constexpr std::string_view kEgressEventsDropped = "subproc.egress.events_dropped";
inline constexpr std::string_view kEgressMoreEvents = "subproc.egress.more_events";

inline constexpr std::string_view kGitNewerThanKnown = "subproc.git.newer_than_known";
inline constexpr std::string_view kGitNotShown = "subproc.git.not_shown";
inline constexpr std::string_view kGitUnprotected = "subproc.git.unprotected";
inline constexpr std::string_view kGitUnreviewed = "subproc.git.unreviewed";
inline constexpr std::string_view kGitTakenBack = "subproc.git.taken_back";
inline constexpr std::string_view kRoUnprotected = "subproc.ro.unprotected";
inline constexpr std::string_view kPersistenceFound = "subproc.persistence.found";
inline constexpr std::string_view kPersistenceUnreviewed = "subproc.persistence.unreviewed";

inline constexpr std::string_view kAuditSkipped = "subproc.audit.skipped";  // of the CLI
inline constexpr std::string_view kAuditFailed = "subproc.audit.failed";
inline constexpr std::string_view kRepoGitIgnored = "subproc.repo.git_ignored";  // of the CLI

// Debug.
inline constexpr std::string_view kWorkspaceCopyProgress = "workspace.copy.progress";
inline constexpr std::string_view kWorkspaceCopyLeftOut = "workspace.copy.left_out";

}  // namespace sallyport::event_name
