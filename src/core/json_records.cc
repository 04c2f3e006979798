#include <nlohmann/json.hpp>

#include "core/base64.h"
#include "core/json.h"
#include "core/sha256.h"
#include "core/utf8.h"

namespace sallyport {
namespace {

// A stream is always one string; `encoding` says whether it is the text itself or base64 of the bytes.
struct EncodedStream {
  std::string text;
  std::string_view encoding;
};

EncodedStream encode(const CapturedStream& stream) {
  if (is_valid_utf8(stream.bytes)) return {.text = stream.bytes, .encoding = "utf-8"};
  return {.text = base64(stream.bytes), .encoding = "base64"};
}

}  // namespace

Json run_record(const JailedSubprocessResult& result) {
  EncodedStream out = encode(result.stdout_stream);
  EncodedStream err = encode(result.stderr_stream);
  Json denials = Json::array();
  for (const Denial& denial : result.denials) denials.push_back(json_of(denial));

  Json record = {{"schema", "sallyport.run/1"}};
  record.update(json_of(result.outcome));
  record["stdout"] = std::move(out.text);
  record["stderr"] = std::move(err.text);
  record["encoding"] = {{"stdout", out.encoding}, {"stderr", err.encoding}};
  record["truncated"] = {{"stdout", result.stdout_stream.truncated}, {"stderr", result.stderr_stream.truncated}};
  record["total_bytes"] = {{"stdout", result.stdout_stream.total_bytes}, {"stderr", result.stderr_stream.total_bytes}};
  record["duration_ms"] = static_cast<double>(result.duration.count()) / 1000.0;
  record["usage"] = json_of(result.usage);
  record["receipt"] = json_of(result.receipt);
  record["denials"] = std::move(denials);
  return record;
}

Json explain_record(const Explanation& explanation) {
  Json guarantees = Json::array();
  for (const Established& entry : explanation.would_establish) guarantees.push_back(json_of(entry));
  Json rendered = Json::array();
  for (const std::string& step : explanation.rendered) rendered.push_back(json_text(step));
  Json interpreters = Json::array();
  for (const BinaryIdentity& binary : explanation.interpreters) interpreters.push_back(json_of(binary));
  return {{"schema", "sallyport.explain/1"},
          {"plan", json_of(explanation.plan)},
          {"plan_digest", plan_digest(explanation.plan)},
          {"jail", json_text(explanation.jail)},
          {"guarantees", std::move(guarantees)},
          {"rendered", std::move(rendered)},
          {"binary", json_of(explanation.binary)},
          {"interpreters", std::move(interpreters)}};
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
