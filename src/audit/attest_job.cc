// A job's end and the calls it made, as one statement (ADR 0056).
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "audit/attest.h"
#include "audit/log_reader.h"
#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "core/json/lookup.h"

namespace sallyport::audit {
namespace {

// A statement is signed and stored as a whole, so it must not grow without bound.
constexpr std::size_t kMostRuns = 1000;

struct JobRun {
  Json intent;
  Json end;
};

// Every call of the job before its end, in the order of their intents.
class JobRuns {
 public:
  Status add(const LogRecord& record, const std::string& job) {
    // Most records belong to others: do not parse them.
    if (record.text.find(job) == std::string_view::npos) return {};
    Json json = TRY(parsed_record(std::string(record.text)));
    if (text_in(json, "job") != job) return {};
    const std::string run(record.line.run);
    const auto [place, fresh] = places_.emplace(run, runs_.size());
    if (fresh && runs_.size() == kMostRuns) {
      return fail(invalid_request("job", fmt::format("it has more than {} calls", kMostRuns), "attest single runs"));
    }
    if (fresh) runs_.emplace_back();
    JobRun& of = runs_[place->second];
    (record.line.kind == "intent" ? of.intent : of.end) = std::move(json);
    return {};
  }
  [[nodiscard]] std::vector<JobRun> take() && { return std::move(runs_); }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<JobRun> runs_;
};

Result<std::vector<JobRun>> runs_of(const LogDirectory& directory, const Json& end) {
  const std::string job = text_in(end, "run");
  JobRuns runs;
  LogReader reader = TRY(LogReader::open(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (record->line.seq >= count_in(end, "seq")) break;
    TRY(runs.add(*record, job));
  }
  return std::move(runs).take();
}

Json run_json(const JobRun& run) {
  const Json& any = run.end.is_object() ? run.end : run.intent;
  Json records = Json::array();
  for (const Json* record : {&run.intent, &run.end}) {
    if (record->is_object()) records.push_back(reference_to(*record));
  }
  Json json = Json::object();
  for (const char* name : {"run", "tool", "probe", "kind"}) json[name] = member(any, name);
  for (const char* name : {"outcome", "error", "stdout", "stderr", "denials", "receipt"}) {
    if (has_member(any, name)) json[name] = member(any, name);
  }
  json["records"] = std::move(records);
  return json;
}

// The subjects of the job: its commit, and the reports it wrote. A statement needs at least one subject, so without
// these it is the job's own record.
Json subjects_of(const Json& end, const TreeOf& tree_of) {
  Json subjects = commit_subject(end, tree_of);
  for (const Json& file : items_in(end, "outputs")) {
    const std::string name = text_in(file, "name");
    const std::string sha256 = text_in(file, "sha256");
    if (!sha256.empty())
      subjects.push_back({{"name", name.empty() ? "report" : name}, {"digest", {{"sha256", sha256}}}});
  }
  if (subjects.empty()) {
    const Json evidence = evidence_of(end);
    subjects.push_back({{"name", member(evidence, "name")}, {"digest", member(evidence, "digest")}});
  }
  return subjects;
}

Json job_predicate(const Json& end, const std::vector<JobRun>& runs) {
  Json list = Json::array();
  for (const JobRun& run : runs) list.push_back(run_json(run));
  Json predicate = {{"job", member(end, "run")}};
  for (const char* name : {"name", "host", "repo", "commit", "result", "verdict", "settings", "steps", "outputs"}) {
    predicate[name] = member(end, name);
  }
  const Json started = runs.empty() ? Json() : member(runs.front().intent, "time");
  predicate["started"] = started.is_null() ? member(end, "time") : started;
  predicate["ended"] = member(end, "time");
  predicate["runs"] = std::move(list);
  predicate["record"] = reference_to(end);
  return predicate;
}

// The policies that judged its calls.
Json policies_of(const std::vector<JobRun>& runs) {
  std::set<std::string> digests;
  for (const JobRun& run : runs) {
    const Json& any = run.end.is_object() ? run.end : run.intent;
    if (std::string digest = text_in(any, "policy_digest"); !digest.empty()) digests.insert(std::move(digest));
  }
  Json list = Json::array();
  for (const std::string& digest : digests) {
    list.push_back({{"name", "sallyport policy"}, {"digest", {{"sha256", digest}}}});
  }
  return list;
}

// The job has a guarantee if it held in each of its runs. A refused call ran nothing; one that failed may have run without
// a guarantee, and has no receipt.
Json guarantees_of(const std::vector<JobRun>& runs) {
  std::map<std::string, std::pair<std::size_t, std::set<std::string>>> held;
  std::size_t started = 0;
  for (const JobRun& run : runs) {
    if (text_in(run.end, "kind") == "refusal") continue;
    ++started;
    if (!has_member(run.end, "receipt")) continue;
    for (const Json& guarantee : items_in(member(run.end, "receipt"), "guarantees")) {
      auto& [count, mechanisms] = held[text_in(guarantee, "name")];
      ++count;
      mechanisms.insert(text_in(guarantee, "mechanism"));
    }
  }
  Json list = Json::array();
  for (const auto& [name, how] : held) {
    if (how.first == started) list.push_back({{"name", name}, {"mechanisms", how.second}, {"runs", started}});
  }
  return list;
}

Json scai_predicate(const Json& end, const std::vector<JobRun>& runs) {
  Json attributes = Json::array();
  for (const Json& guarantee : guarantees_of(runs)) {
    attributes.push_back(
        {{"attribute", member(guarantee, "name")},
         {"conditions", {{"mechanisms", member(guarantee, "mechanisms")}, {"runs", member(guarantee, "runs")}}},
         {"evidence", evidence_of(end)}});
  }
  attributes.push_back({{"attribute", fmt::format("result.{}", text_in(end, "result"))},
                        {"conditions", {{"job", member(end, "name")}, {"verdict", member(end, "verdict")}}},
                        {"evidence", evidence_of(end)}});
  Json predicate = {{"attributes", std::move(attributes)}, {"producer", {{"name", "sallyport"}}}};
  const Json policies = policies_of(runs);
  if (!policies.empty()) predicate["producer"]["digest"] = member(policies.front(), "digest");
  return predicate;
}

Result<Json> test_result_predicate(const Json& end, const std::vector<JobRun>& runs) {
  const std::map<std::string, std::string> words = {{"passed", "PASSED"}, {"warned", "WARNED"}, {"failed", "FAILED"}};
  const auto word = words.find(text_in(end, "result"));
  if (word == words.end()) {
    return fail(invalid_request("job", "it could not be completed, so it is no test's result",
                                "a receipt's statement attests what there is"));
  }
  std::map<std::string, Json> tests;
  for (const char* result : {"passed", "warned", "failed"}) tests[result] = Json::array();
  for (const Json& step : items_in(end, "steps")) {
    const auto list = tests.find(text_in(step, "result"));
    if (list != tests.end()) list->second.push_back(member(step, "name"));
  }
  // The configuration behind the result, so that a reader can see how strict "passed" was.
  Json configuration = policies_of(runs);
  const std::string settings = json_dump(member(end, "settings"));
  configuration.push_back({{"name", fmt::format("sallyport {}", text_in(end, "name"))},
                           {"digest", {{"sha256", sha256_hex(settings)}}},
                           {"annotations", member(end, "settings")}});
  return Json{{"result", word->second},
              {"configuration", std::move(configuration)},
              {"passedTests", tests["passed"]},
              {"warnedTests", tests["warned"]},
              {"failedTests", tests["failed"]}};
}

}  // namespace

Result<Json> statement_of_job(const LogDirectory& directory, const Json& end, Predicate predicate,
                              const TreeOf& tree_of) {
  const std::vector<JobRun> runs = TRY(runs_of(directory, end));
  switch (predicate) {
    case Predicate::kReceipt:
      return statement_json(subjects_of(end, tree_of), kJobPredicate, job_predicate(end, runs));
    case Predicate::kScai:
      return statement_json(subjects_of(end, tree_of), kScaiPredicate, scai_predicate(end, runs));
    case Predicate::kTestResult:
      break;
  }
  return statement_json(subjects_of(end, tree_of), kTestResultPredicate, TRY(test_result_predicate(end, runs)));
}

}  // namespace sallyport::audit
