#include "audit/attest.h"

#include <fmt/format.h>

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "audit/log_reader.h"
#include "audit/prove.h"
#include "core/audit/record_line.h"
#include "core/errors.h"
#include "core/json/json.h"

namespace sallyport::audit {
namespace {

struct Run {
  Json intent;
  Json result;
};

Result<Json> parsed_record(const std::string& text) {
  // What is attested is what was written: a record whose hash does not fit is nothing to sign.
  const std::expected<RecordLine, std::string_view> line = open_record(text);
  Json json = Json::parse(text, nullptr, false);
  if (!line || !json.is_object()) {
    return fail(invalid_request("record", line ? "it is no JSON" : line.error(), "sallyport audit verify says more"));
  }
  return json;
}

Result<Run> find_run(const LogDirectory& directory, const std::string& wanted) {
  const std::string text = TRY(find_record(directory, wanted));
  Run run{.result = TRY(parsed_record(text))};
  const std::string id = run.result.value("run", std::string());
  if (run.result.value("kind", std::string()) != "result") {
    return fail(invalid_request("run", fmt::format("{} has no result", id), "only a run that ended can be attested"));
  }
  LogReader reader = TRY(LogReader::open(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (record->line.run != id || record->line.kind != "intent") continue;
    run.intent = TRY(parsed_record(std::string(record->text)));
    return run;
  }
  return fail(
      invalid_request("run", fmt::format("the intent of {} is missing", id), "sallyport audit verify says more"));
}

Json subjects_of(const Run& run) {
  const Json& request = run.intent["request"];
  Json subjects = Json::array();
  if (request["commit"].is_string()) {
    subjects.push_back({{"name", request["repo"].is_string() ? request["repo"] : Json("repo")},
                        {"digest", {{"gitCommit", request["commit"]}}}});
  }
  for (const char* stream : {"stdout", "stderr"}) {
    subjects.push_back({{"name", stream}, {"digest", {{"sha256", run.result[stream]["sha256"]}}}});
  }
  return subjects;
}

// Where the claim can be looked up: the record itself, by number and digest.
Json evidence_of(const Run& run) {
  return {{"name", fmt::format("sallyport audit record {}", run.result["seq"].get<std::uint64_t>())},
          {"digest", {{"sha256", run.result["hash"]}}},
          {"mediaType", "application/json"}};
}

Json receipt_predicate(const Run& run) {
  Json predicate = {{"run", run.result["run"]},
                    {"host", run.result["host"]},
                    {"started", run.intent["time"]},
                    {"ended", run.result["time"]},
                    {"request", run.intent["request"]}};
  for (const char* name :
       {"outcome", "duration_ms", "usage", "receipt", "denials", "git_findings", "stdout", "stderr"}) {
    predicate[name] = run.result[name];
  }
  predicate["records"] = Json::array();
  for (const Json* record : {&run.intent, &run.result}) {
    predicate["records"].push_back({{"seq", (*record)["seq"]}, {"hash", (*record)["hash"]}});
  }
  return predicate;
}

Json scai_predicate(const Run& run) {
  Json attributes = Json::array();
  const Json& receipt = run.result["receipt"];
  for (const Json& guarantee : receipt["guarantees"]) {
    if (!guarantee.is_object()) continue;
    attributes.push_back({{"attribute", guarantee["name"]},
                          {"conditions", {{"mechanism", guarantee["mechanism"]}, {"jail", receipt["jail"]}}},
                          {"evidence", evidence_of(run)}});
  }
  attributes.push_back({{"attribute", fmt::format("outcome.{}", run.result["outcome"].value("outcome", "unknown"))},
                        {"conditions", run.result["outcome"]["evidence"]},
                        {"evidence", evidence_of(run)}});
  return {{"attributes", std::move(attributes)},
          {"producer", {{"name", "sallyport"}, {"digest", {{"sha256", receipt["policy_digest"]}}}}}};
}

}  // namespace

Result<std::string> statement_of_run(const LogDirectory& directory, const std::string& wanted, Predicate predicate) {
  const Run run = TRY(find_run(directory, wanted));
  const bool scai = predicate == Predicate::kScai;
  const Json statement = {{"_type", kStatementType},
                          {"subject", subjects_of(run)},
                          {"predicateType", scai ? kScaiPredicate : kReceiptPredicate},
                          {"predicate", scai ? scai_predicate(run) : receipt_predicate(run)}};
  return json_dump(statement);
}

}  // namespace sallyport::audit
