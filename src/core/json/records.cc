#include <nlohmann/json.hpp>

#include "core/bytes/base64.h"
#include "core/bytes/sha256.h"
#include "core/json/json.h"
#include "core/json/run_parts.h"

namespace sallyport {
namespace {

// A stream is always one string; "encoding" says whether it is the text itself or base64 of the bytes.
std::string encode(const CapturedStream& stream) {
  return stream_encoding(stream.bytes) == StreamEncoding::kUtf8 ? stream.bytes : base64(stream.bytes);
}

std::string_view encoding_name(const CapturedStream& stream) {
  return stream_encoding(stream.bytes) == StreamEncoding::kUtf8 ? "utf-8" : "base64";
}

}  // namespace

RunRecordParts run_record_parts(const JailedSubprocessResult& result) {
  Json denials = Json::array();
  for (const Denial& denial : result.denials) denials.push_back(json_of(denial));
  RunRecordParts parts{.before = {{"schema", "sallyport.run/1"}}, .after = Json::object()};
  parts.before.update(json_of(result.outcome));
  Json& after = parts.after;
  after["encoding"] = {{"stdout", encoding_name(result.stdout_stream)},
                       {"stderr", encoding_name(result.stderr_stream)}};
  after["truncated"] = {{"stdout", result.stdout_stream.truncated}, {"stderr", result.stderr_stream.truncated}};
  after["total_bytes"] = {{"stdout", result.stdout_stream.total_bytes}, {"stderr", result.stderr_stream.total_bytes}};
  after["duration_ms"] = static_cast<double>(result.duration.count()) / 1000.0;
  after["usage"] = json_of(result.usage);
  after["receipt"] = json_of(result.receipt);
  after["denials"] = std::move(denials);
  after["git_findings"] = Json::array();
  for (const GitFinding& finding : result.git_findings) after["git_findings"].push_back(json_of(finding));
  if (!result.audit_run.empty()) after["audit_run"] = result.audit_run;
  after["persistence"] = Json::array();
  for (const PersistenceFinding& finding : result.persistence) after["persistence"].push_back(json_of(finding));
  const std::string& incomplete = result.persistence_incomplete;
  after["persistence_incomplete"] = incomplete.empty() ? Json(nullptr) : json_text(incomplete);
  return parts;
}

Json run_record(const JailedSubprocessResult& result) {
  RunRecordParts parts = run_record_parts(result);
  Json record = std::move(parts.before);
  record["stdout"] = encode(result.stdout_stream);
  record["stderr"] = encode(result.stderr_stream);
  record.update(parts.after);
  return record;
}

Json explain_record(const Explanation& explanation) {
  Json guarantees = Json::array();
  for (const Established& entry : explanation.would_establish) guarantees.push_back(json_of(entry));
  Json rendered = Json::array();
  for (const std::string& step : explanation.rendered) rendered.push_back(json_text(step));
  Json interpreters = Json::array();
  for (const BinaryIdentity& binary : explanation.interpreters) interpreters.push_back(json_of(binary));
  return {{"schema", "sallyport.explain/1"},        {"plan", json_of(explanation.plan)},
          {"plan_digest", explanation.plan_digest}, {"jail", json_text(explanation.jail.name())},
          {"guarantees", std::move(guarantees)},    {"rendered", std::move(rendered)},
          {"binary", json_of(explanation.binary)},  {"interpreters", std::move(interpreters)}};
}

Json allowlist_record(const Allowlist& allowlist) {
  Json tools = Json::array();
  for (const ToolEntry& entry : allowlist.entries()) tools.push_back(json_of(entry));
  return {{"schema", "sallyport.allowlist/1"}, {"digest", policy_digest(allowlist)}, {"tools", std::move(tools)}};
}

std::string json_dump(const Json& value, JsonStyle style) {
  // Everything above is valid UTF-8 already; `replace` keeps a caller's own value from throwing.
  return value.dump(style == JsonStyle::kIndented ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

std::string plan_digest(const Plan& plan) { return sha256_hex(json_dump(json_of(plan))); }

std::string policy_digest(const Allowlist& allowlist) { return sha256_hex(allowlist.canonical_text()); }

}  // namespace sallyport
