#include "jobs/report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <iterator>
#include <map>

#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kSchema = "https://json.schemastore.org/sarif-2.1.0.json";

std::string_view level_of(Severity severity) {
  if (severity >= Severity::kHigh) return "error";
  return severity == Severity::kMedium ? "warning" : "note";
}

// GitHub sorts alerts by this number, above 0.0 up to 10.0.
std::string_view security_severity(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "0.5";
    case Severity::kLow:
      return "3.0";
    case Severity::kMedium:
      return "5.5";
    case Severity::kHigh:
      return "8.0";
    case Severity::kCritical:
      return "9.5";
  }
  return "5.5";
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += '"';
  out += name;
  out += "\":";
  append_json_string(out, text);
}

void append_text_object(std::string& out, std::string_view name, std::string_view text) {
  out += '"';
  out += name;
  out += "\":{";
  append_member(out, "text", text);
  out += '}';
}

// A full sentence ends with a stop: consumers show these texts one after the other.
std::string sentence(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out.back() != '.') out += '.';
  return out;
}

void append_rules(std::string& out, std::span<const RuleInfo> rules) {
  out += "\"rules\":[";
  for (const RuleInfo& rule : rules) {
    if (out.back() != '[') out += ',';
    out += '{';
    append_member(out, "id", rule.id);
    out += ',';
    append_text_object(out, "shortDescription", sentence(rule.summary));
    out += ',';
    append_text_object(out, "fullDescription", sentence(rule.summary));
    out += ',';
    append_text_object(out, "help", sentence(rule.help.empty() ? rule.summary : rule.help));
    fmt::format_to(std::back_inserter(out),
                   ",\"defaultConfiguration\":{{\"level\":\"{}\"}},\"properties\":{{\"security-severity\":\"{}\","
                   "\"tags\":[\"security\"]}}}}",
                   level_of(rule.severity), security_severity(rule.severity));
  }
  out += ']';
}

void append_location(std::string& out, const Place& place) {
  out += "\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{";
  append_member(out, "uri", place.path.empty() ? "." : uri_of_path(place.path));
  out += ",\"uriBaseId\":\"REPO\"}";
  const std::uint32_t line = std::max(1U, place.line);
  const std::uint32_t column = std::max(1U, place.column);
  const std::uint32_t end_line = std::max(line, place.end_line);
  const std::uint32_t end_column =
      end_line > line ? std::max(1U, place.end_column) : std::max(column, place.end_column);
  fmt::format_to(std::back_inserter(out),
                 ",\"region\":{{\"startLine\":{},\"startColumn\":{},\"endLine\":{},\"endColumn\":{}}}}}}}]", line,
                 column, end_line, end_column);
}

std::string_view baseline_name(BaselineState state) {
  switch (state) {
    case BaselineState::kNew:
      return "new";
    case BaselineState::kUnchanged:
      return "unchanged";
    case BaselineState::kAbsent:
      return "absent";
    case BaselineState::kNone:
      break;
  }
  return "";
}

using RuleIndex = std::map<std::string_view, std::size_t>;

void append_result(std::string& out, const Finding& finding, const RuleIndex& rules) {
  out += '{';
  append_member(out, "ruleId", finding.rule);
  if (const auto rule = rules.find(finding.rule); rule != rules.end()) {
    fmt::format_to(std::back_inserter(out), ",\"ruleIndex\":{}", rule->second);
  }
  fmt::format_to(std::back_inserter(out), ",\"level\":\"{}\",", level_of(finding.severity));
  append_text_object(out, "message", sentence(finding.message));
  out += ',';
  append_location(out, finding.place);
  out += ",\"partialFingerprints\":{";
  append_member(out, "primaryLocationLineHash", finding.fingerprint);
  out += '}';
  if (finding.suppression) {
    out += fmt::format(",\"suppressions\":[{{\"kind\":\"{}\",\"status\":\"accepted\",",
                       finding.suppression->kind == Suppression::Kind::kInSource ? "inSource" : "external");
    append_member(out, "justification", finding.suppression->justification);
    out += "}]";
  }
  if (finding.baseline != BaselineState::kNone) {
    out += ',';
    append_member(out, "baselineState", baseline_name(finding.baseline));
  }
  if (!finding.secret_sha256.empty()) {
    out += ",\"properties\":{";
    append_member(out, "secretSha256", finding.secret_sha256);
    out += '}';
  }
  out += '}';
}

const std::vector<Invocation>* invocations_of(const ScannerOutcome& outcome) {
  if (const auto* ran = std::get_if<Ran>(&outcome)) return &ran->invocations;
  if (const auto* failure = std::get_if<ScannerFailed>(&outcome)) return &failure->invocations;
  return nullptr;
}

void append_invocations(std::string& out, const ScannerOutcome& outcome) {
  const bool complete = is_complete(outcome);
  fmt::format_to(std::back_inserter(out), "\"invocations\":[{{\"executionSuccessful\":{}", complete);
  const std::vector<Invocation>* const calls = invocations_of(outcome);
  const Invocation* const last = calls == nullptr || calls->empty() ? nullptr : &calls->back();
  if (last != nullptr && last->exit_code) out += fmt::format(",\"exitCode\":{}", *last->exit_code);
  if (last != nullptr && last->signal) out += fmt::format(",\"exitSignalNumber\":{}", *last->signal);
  if (const auto* missing = std::get_if<ToolMissing>(&outcome)) {
    out += ',';
    append_member(out, "processStartFailureMessage", fmt::format("{} is not installed", missing->tool));
  }
  if (const std::string why = why_of(outcome); !why.empty()) {
    out += fmt::format(",\"toolExecutionNotifications\":[{{\"level\":\"{}\",", complete ? "note" : "error");
    append_text_object(out, "message", sentence(shown(why)));
    out += "}]";
  }
  out += ",\"properties\":{";
  append_member(out, "outcome", name_of(outcome));
  out += ",\"receipts\":[";
  for (std::size_t i = 0; calls != nullptr && i < calls->size(); ++i) {
    out += i == 0 ? "\"" : ",\"";
    out += receipt_digest((*calls)[i].receipt);
    out += '"';
  }
  out += "]}}]";
}

}  // namespace

std::string sarif(std::span<const SarifRun> runs, std::string_view program_version) {
  std::string out = fmt::format("{{\"$schema\":\"{}\",\"version\":\"2.1.0\",\"runs\":[", kSchema);
  for (const SarifRun& run : runs) {
    if (out.back() != '[') out += ',';
    out += "{\"tool\":{\"driver\":{";
    append_member(out, "name", run.tool);
    out += ',';
    append_member(out, "version", program_version);
    out += ',';
    append_rules(out, run.rules);
    out += "}},\"automationDetails\":{";
    append_member(out, "id", fmt::format("{}/", run.category));
    out +=
        "},\"columnKind\":\"unicodeCodePoints\",\"originalUriBaseIds\":{\"REPO\":{\"description\":{\"text\":\"The "
        "root of the scanned repo.\"}}},";
    append_invocations(out, *run.outcome);
    out += ",\"results\":[";
    RuleIndex index;
    for (std::size_t i = 0; i < run.rules.size(); ++i) index.emplace(run.rules[i].id, i);
    if (const auto* ran = std::get_if<Ran>(run.outcome)) {
      for (const Finding& finding : ran->findings) {
        if (out.back() != '[') out += ',';
        append_result(out, finding, index);
      }
    }
    out += "]}";
  }
  return out + "]}\n";
}

std::expected<std::vector<Finding>, std::string> read_baseline(std::string_view sarif_text, std::string_view tool) {
  const auto document = parse_bounded(sarif_text);
  if (!document) return std::unexpected(document.error());
  const std::string* const version = string_member(*document, "version");
  const InJson* const runs = array_member(*document, "runs");
  if (version == nullptr || *version != "2.1.0" || runs == nullptr) {
    return std::unexpected(std::string("not a SARIF 2.1.0 file"));
  }
  std::vector<Finding> findings;
  for (const InJson& run : *runs) {
    const InJson* const tool_object = member(run, "tool");
    const InJson* const driver = tool_object == nullptr ? nullptr : member(*tool_object, "driver");
    const std::string* const name = driver == nullptr ? nullptr : string_member(*driver, "name");
    const InJson* const results = array_member(run, "results");
    if (name == nullptr || *name != tool || results == nullptr) continue;
    for (const InJson& result : *results) {
      const std::string* const rule = string_member(result, "ruleId");
      const InJson* const prints = member(result, "partialFingerprints");
      const std::string* const print = prints == nullptr ? nullptr : string_member(*prints, "primaryLocationLineHash");
      if (rule != nullptr && print != nullptr) findings.push_back({.rule = *rule, .fingerprint = *print});
    }
  }
  return findings;
}

}  // namespace sallyport::jobs
