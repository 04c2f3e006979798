#include <nlohmann/json.hpp>

#include "core/json/json.h"

namespace sallyport {

Json json_of(const Change& change) {
  Json json = {{"path", json_text(change.path)},
               {"kind", name_of(change.kind)},
               {"before", name_of(change.before)},
               {"after", name_of(change.after)}};
  if (change.before != FileType::kNone) json["mode_before"] = change.mode_before;
  if (change.after != FileType::kNone) json["mode_after"] = change.mode_after;
  if (change.before == FileType::kFile) json["size_before"] = change.size_before;
  if (change.after == FileType::kFile) json["size_after"] = change.size_after;
  if (change.before == FileType::kSymlink) json["link_before"] = json_text(change.link_before);
  if (change.after == FileType::kSymlink) json["link_after"] = json_text(change.link_after);
  if (change.xattrs_changed) json["xattrs_changed"] = true;
  return json;
}

Json json_of(const PersistenceFinding& finding) {
  return {{"path", json_text(finding.path)},
          {"rule", finding.rule},
          {"reason", json_text(finding.reason)},
          {"severity", name_of(finding.severity)}};
}

Json json_of(const WorkspaceInfo& info) {
  Json json = {{"name", info.name},
               {"id", json_text(info.id)},
               {"in_use", info.in_use},
               {"stale", info.stale},
               {"broken", info.broken}};
  if (info.broken) return json;
  json["repo"] = json_text(info.repo.native());
  json["mechanism"] = name_of(info.mechanism);
  json["quota_bytes"] = count(info.quota);
  return json;
}

Json workspace_diff_record(std::string_view name, const WorkspaceDiff& diff) {
  Json changes = Json::array();
  for (const Change& change : diff.changes) changes.push_back(json_of(change));
  Json findings = Json::array();
  for (const PersistenceFinding& finding : diff.findings) findings.push_back(json_of(finding));
  return {{"schema", "sallyport.workspace_diff/1"},
          {"workspace", name},
          {"changes", std::move(changes)},
          {"findings", std::move(findings)},
          {"bytes_used", diff.bytes_used}};
}

Json workspace_commit_record(std::string_view name, const CommitReport& report) {
  Json steps = Json::array();
  for (const CommitStep& step : report.steps) {
    Json json = {{"path", json_text(step.path)}, {"action", name_of(step.action)}};
    if (!step.why.empty()) json["why"] = json_text(step.why);
    steps.push_back(std::move(json));
  }
  return {{"schema", "sallyport.workspace_commit/1"},
          {"workspace", name},
          {"written", report.written},
          {"steps", std::move(steps)}};
}

Json workspace_list_record(const std::vector<WorkspaceInfo>& workspaces) {
  Json list = Json::array();
  for (const WorkspaceInfo& info : workspaces) list.push_back(json_of(info));
  return {{"schema", "sallyport.workspace_list/1"}, {"workspaces", std::move(list)}};
}

}  // namespace sallyport
