#include "cli/workspace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text/printable.h"
#include "core/text/units.h"

namespace sallyport::cli {
namespace {

std::string detail_of(const Change& change) {
  std::string text;
  if (change.kind == ChangeKind::kReplaced) {
    text += fmt::format("  {} -> {}", name_of(change.before), name_of(change.after));
  }
  const bool has_both = change.before != FileType::kNone && change.after != FileType::kNone;
  if (has_both && change.mode_before != change.mode_after && change.after != FileType::kSymlink) {
    text += fmt::format("  mode {:04o} -> {:04o}", change.mode_before, change.mode_after);
  }
  if (change.after == FileType::kSymlink) text += fmt::format("  -> {}", printable(change.link_after));
  if (change.kind == ChangeKind::kCreated && change.after != FileType::kFile && change.after != FileType::kSymlink) {
    text += fmt::format("  ({})", name_of(change.after));
  }
  if (change.xattrs_changed) text += "  extended attributes";
  return text;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string diff_text(const WorkspaceDiff& diff, ByteCount quota) {
  std::string text;
  for (const Change& change : diff.changes) {
    fmt::format_to(std::back_inserter(text), "{:<9} {}{}\n", name_of(change.kind), printable(change.path),
                   detail_of(change));
  }
  if (!diff.findings.empty()) {
    text += text.empty() ? "" : "\n";
    text += "would run later, outside a jail:\n";
    std::vector<const PersistenceFinding*> findings;
    for (const PersistenceFinding& finding : diff.findings) findings.push_back(&finding);
    std::ranges::stable_sort(findings, std::ranges::greater(), &PersistenceFinding::severity);
    for (const PersistenceFinding* const finding : findings) {
      text += fmt::format("{:<7} {}  {}: {}\n", name_of(finding->severity), printable(finding->path), finding->rule,
                          printable(finding->reason));
    }
  }
  text += fmt::format("{}{}, {}, {} of {} used\n", text.empty() ? "" : "\n", counted(diff.changes.size(), "change"),
                      counted(diff.findings.size(), "finding"), format_bytes(ByteCount{diff.bytes_used}),
                      format_bytes(quota));
  return text;
}

std::string commit_text(const CommitReport& report) {
  std::string text;
  for (const CommitStep& step : report.steps) {
    text += fmt::format("{:<12} {}{}{}\n", name_of(step.action), printable(step.path), step.why.empty() ? "" : ": ",
                        printable(step.why));
  }
  return text;
}

std::string list_text(const std::vector<WorkspaceInfo>& workspaces) {
  std::string text;
  for (const WorkspaceInfo& info : workspaces) {
    const std::string state = info.broken ? "broken" : info.stale ? "stale" : info.in_use ? "in use" : "idle";
    text += fmt::format("{:<20} {:<7} {:<8} {}\n", info.name.empty() ? info.id : info.name, state,
                        info.broken ? "" : name_of(info.mechanism), printable(info.repo.native()));
  }
  return text;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    shown += printable(text.substr(0, end));
    shown += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

}  // namespace sallyport::cli
