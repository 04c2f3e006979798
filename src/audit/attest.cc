#include "audit/attest.h"

#include <fmt/format.h>

#include <expected>
#include <optional>
#include <utility>

#include "audit/log_reader.h"
#include "audit/prove.h"
#include "core/audit/record_line.h"
#include "core/errors.h"
#include "core/json/lookup.h"

namespace sallyport::audit {
namespace {

struct Run {
  Json intent;
  Json result;
};

Result<Run> find_run(const LogDirectory& directory, Json end) {
  Run run{.intent = {}, .result = std::move(end)};
  const std::string id = text_in(run.result, "run");
  if (text_in(run.result, "kind") != "result") {
    return fail(invalid_request("run", fmt::format("{} has no result", id), "only a run that ended can be attested"));
  }
  LogReader reader = TRY(LogReader::open(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (record->line.run != id || record->line.kind != "intent") continue;
    run.intent = TRY(parsed_record(std::string(record->text)));
    return run;
  }
  return fail(
      invalid_request("run", fmt::format("the intent of {} is missing", id), "a check of the whole log says more"));
}

Json subjects_of(const Run& run, const TreeOf& tree_of) {
  Json subjects = commit_subject(member(run.intent, "request"), tree_of);
  for (const char* stream : {"stdout", "stderr"}) {
    subjects.push_back({{"name", stream}, {"digest", {{"sha256", text_in(member(run.result, stream), "sha256")}}}});
  }
  return subjects;
}

Json receipt_predicate(const Run& run) {
  Json predicate = {{"run", member(run.result, "run")},
                    {"host", member(run.result, "host")},
                    {"started", member(run.intent, "time")},
                    {"ended", member(run.result, "time")},
                    {"request", member(run.intent, "request")}};
  for (const char* name :
       {"outcome", "duration_ms", "usage", "receipt", "denials", "git_findings", "stdout", "stderr"}) {
    predicate[name] = member(run.result, name);
  }
  predicate["records"] = Json::array({reference_to(run.intent), reference_to(run.result)});
  return predicate;
}

Json scai_predicate(const Run& run) {
  Json attributes = Json::array();
  const Json& receipt = member(run.result, "receipt");
  const Json& outcome = member(run.result, "outcome");
  for (const Json& guarantee : items_in(receipt, "guarantees")) {
    if (!guarantee.is_object()) continue;
    attributes.push_back(
        {{"attribute", member(guarantee, "name")},
         {"conditions", {{"mechanism", member(guarantee, "mechanism")}, {"jail", member(receipt, "jail")}}},
         {"evidence", evidence_of(run.result)}});
  }
  attributes.push_back({{"attribute", fmt::format("outcome.{}", text_in(outcome, "outcome"))},
                        {"conditions", member(outcome, "evidence")},
                        {"evidence", evidence_of(run.result)}});
  return {{"attributes", std::move(attributes)},
          {"producer", {{"name", "sallyport"}, {"digest", {{"sha256", member(receipt, "policy_digest")}}}}}};
}

Result<Json> statement_of_run(const LogDirectory& directory, Json end, Predicate predicate, const TreeOf& tree_of) {
  const Run run = TRY(find_run(directory, std::move(end)));
  switch (predicate) {
    case Predicate::kReceipt:
      return statement_json(subjects_of(run, tree_of), kReceiptPredicate, receipt_predicate(run));
    case Predicate::kScai:
      return statement_json(subjects_of(run, tree_of), kScaiPredicate, scai_predicate(run));
    case Predicate::kTestResult:
      break;
  }
  return fail(invalid_request("predicate", "a single run is no test", "name a job of validate or probe, or last-job"));
}

}  // namespace

// We attest what was written: do not sign a record whose hash does not match.
Result<Json> parsed_record(const std::string& text) {
  const std::expected<RecordLine, std::string_view> line = open_record(text);
  Json json = Json::parse(text, nullptr, false);
  if (!line || !json.is_object()) {
    return fail(invalid_request("record", line ? "it is no JSON" : line.error(), "a check of the whole log says more"));
  }
  return json;
}

Json statement_json(Json subjects, std::string_view type, Json predicate) {
  return {{"_type", kStatementType},
          {"subject", std::move(subjects)},
          {"predicateType", type},
          {"predicate", std::move(predicate)}};
}

Json commit_subject(const Json& request, const TreeOf& tree_of) {
  const std::string commit = text_in(request, "commit");
  if (commit.empty()) return Json::array();
  const std::string repo = text_in(request, "repo");
  Json digest = {{"gitCommit", commit}};
  if (const std::optional<std::string> tree = tree_of(repo, commit)) digest["gitTree"] = *tree;
  return Json::array({{{"name", repo.empty() ? "repo" : repo}, {"digest", std::move(digest)}}});
}

Json evidence_of(const Json& record) {
  return {{"name", fmt::format("sallyport audit record {}", count_in(record, "seq"))},
          {"digest", {{"sha256", member(record, "hash")}}},
          {"mediaType", "application/json"}};
}

Json reference_to(const Json& record) { return {{"seq", count_in(record, "seq")}, {"hash", member(record, "hash")}}; }

Result<std::string> statement_of(const LogDirectory& directory, const std::string& wanted, Predicate predicate,
                                 const TreeOf& tree_of) {
  const std::string text = TRY(find_record(directory, wanted));
  Json end = TRY(parsed_record(text));
  const bool is_job = text_in(end, "kind") == "job";
  return json_dump(is_job ? TRY(statement_of_job(directory, end, predicate, tree_of))
                          : TRY(statement_of_run(directory, std::move(end), predicate, tree_of)));
}

}  // namespace sallyport::audit
