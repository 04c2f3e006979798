#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "jobs/probe/all.h"
#include "jobs/report/places.h"
#include "jobs/report/sarif.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

constexpr auto kProbes = std::to_array<const Probe*>(
    {&kSemgrep, &kSyft, &kGrype, &kGitleaks, &kScipTypescript, &kAstGrep, &kRgCurated, &kTestCoverage, &kRuntimeTrace});

ProbeResult run_one(const Probe& probe, const JobContext& context, const Survey& files) {
  const auto start = std::chrono::steady_clock::now();
  JobContext own = context;
  own.work_dir = context.work_dir / probe.name;
  std::error_code error;
  std::filesystem::create_directories(own.work_dir, error);
  ProbeResult result{.probe = &probe, .outcome = probe.run({.context = &own, .files = &files})};
  result.duration = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  return result;
}

// A finding of the baseline counts once: two of the same rule and line need two there.
void compare_with(const std::vector<Finding>& known, std::vector<Finding>& findings) {
  std::map<std::pair<std::string, std::string>, std::size_t> left;
  for (const Finding& finding : known) ++left[{finding.rule, finding.fingerprint}];
  for (Finding& finding : findings) {
    const auto one = left.find({finding.rule, finding.fingerprint});
    const bool is_known = one != left.end() && one->second > 0;
    if (is_known) --one->second;
    finding.baseline = is_known ? BaselineState::kUnchanged : BaselineState::kNew;
  }
  for (const auto& [key, count] : left) {
    for (std::size_t i = 0; i < count; ++i) {
      findings.push_back({.rule = key.first,
                          .severity = Severity::kInfo,
                          .message = "a finding of the baseline is gone",
                          .fingerprint = key.second,
                          .baseline = BaselineState::kAbsent});
    }
  }
}

std::string finish(const JobContext& context, const ProbeOptions& options,
                   const std::optional<std::vector<std::string>>& changed, ProbeResult& result) {
  auto* const ran = std::get_if<Ran>(&result.outcome);
  if (ran == nullptr) return {};
  if (changed) {
    std::erase_if(ran->findings,
                  [&](const Finding& finding) { return !std::ranges::binary_search(*changed, finding.place.path); });
  }
  add_fingerprints(context.repo, ran->findings);
  if (!options.baseline) return {};
  const auto known = read_baseline(*options.baseline, result.probe->name);
  if (!known) return "the baseline is no SARIF report: " + known.error();
  compare_with(*known, ran->findings);
  return {};
}

// Each thread takes the next probe; results keep the requested order.
void run_all(const JobContext& context, const ProbeOptions& options, const Survey& files,
             std::vector<ProbeResult>& results) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto report_progress = [&](const Probe& probe, const ProbeResult* result) {
    if (!options.progress) return;
    const std::scoped_lock lock(mutex);
    options.progress(probe, result);
  };
  const auto work = [&] {
    for (std::size_t i = next++; i < options.selected.size(); i = next++) {
      report_progress(*options.selected[i], nullptr);
      results[i] = run_one(*options.selected[i], context, files);
      report_progress(*options.selected[i], &results[i]);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(options.parallel, options.selected.size()); ++i) threads.emplace_back(work);
  work();
}

// Splits a name into words with the characters of keys, so that a word that is a secret is recognised by its hash.
std::string without_secrets(const std::string& name, const std::set<std::string>& hashes) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  constexpr std::size_t kShortestSecret = 12;
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && in_word(name[end])) ++end;
    const std::string word = name.substr(at, end - at);
    const bool is_secret = word.size() >= kShortestSecret && hashes.contains(sha256_hex(word));
    out += is_secret ? "[secret]" : word;
    if (end < name.size()) out += name[end];
    at = end + 1;
  }
  return out;
}

// A file's name can be the secret itself. Do this last: until here we need the name to find the file.
void take_secrets_out_of_names(std::vector<ProbeResult>& results) {
  std::set<std::string> hashes;
  for (const ProbeResult& result : results) {
    const auto* const ran = std::get_if<Ran>(&result.outcome);
    for (std::size_t i = 0; ran != nullptr && i < ran->findings.size(); ++i) {
      if (!ran->findings[i].secret_sha256.empty()) hashes.insert(ran->findings[i].secret_sha256);
    }
  }
  if (hashes.empty()) return;
  for (ProbeResult& result : results) {
    auto* const ran = std::get_if<Ran>(&result.outcome);
    if (ran == nullptr) continue;
    for (Finding& finding : ran->findings) finding.place.path = without_secrets(finding.place.path, hashes);
    for (InventoryItem& item : ran->inventory) item.path = without_secrets(item.path, hashes);
  }
}

}  // namespace

std::span<const Probe* const> probes() { return kProbes; }

const Probe* find_probe(std::string_view name) {
  const auto found = std::ranges::find(kProbes, name, &Probe::name);
  return found == kProbes.end() ? nullptr : *found;
}

ProbeReport run_probes(const JobContext& context, const ProbeOptions& options) {
  const Result<Survey> files = survey(context.repo);
  if (!files) return {.problem = context.gate->refuse(files.error()).message};
  if (!files->unread.empty()) return {.problem = "a directory cannot be listed: " + files->unread.front()};
  std::optional<std::vector<std::string>> changed;
  if (options.changed_since) {
    auto answer = changed_files(context, *options.changed_since);
    if (const auto* outcome = std::get_if<ScannerOutcome>(&answer)) return {.problem = why_of(*outcome)};
    changed = std::get<std::vector<std::string>>(std::move(answer));
  }
  JobContext shared = context;
  if (shared.memory && options.parallel > 1) shared.memory = ByteCount{count(*shared.memory) / options.parallel};
  ProbeReport report;
  // An entry that is not overwritten below has not run, and must not look as if it had.
  report.results.assign(options.selected.size(), ProbeResult{.probe = &kBlinding, .outcome = failed("it was not run")});
  run_all(shared, options, *files, report.results);
  ProbeResult blinding{.probe = &kBlinding,
                       .outcome = look_for_blinding({.context = &context, .files = &*files}, report.results)};
  report.results.push_back(std::move(blinding));
  for (ProbeResult& result : report.results) {
    std::string problem = finish(context, options, changed, result);
    if (!problem.empty()) report.problem = std::move(problem);
  }
  take_secrets_out_of_names(report.results);
  return report;
}

bool fails(const Finding& finding, Severity threshold) {
  if (finding.severity < threshold) return false;
  if (finding.baseline == BaselineState::kUnchanged || finding.baseline == BaselineState::kAbsent) return false;
  return !finding.suppression || finding.suppression->kind == Suppression::Kind::kInSource;
}

int probe_exit_code(const ProbeReport& report, Severity threshold) {
  bool found = false;
  bool complete = report.problem.empty();
  for (const ProbeResult& result : report.results) {
    complete = complete && is_complete(result.outcome);
    const auto* const ran = std::get_if<Ran>(&result.outcome);
    found = found || (ran != nullptr && std::ranges::any_of(ran->findings, [&](const Finding& finding) {
                        return fails(finding, threshold);
                      }));
  }
  if (!complete) return 2;
  return found ? 1 : 0;
}

std::string sarif_report(const ProbeReport& report, std::string_view version) {
  std::vector<std::vector<RuleInfo>> rules;
  for (const ProbeResult& result : report.results) rules.push_back(result.probe->rules());
  std::vector<std::string> categories;
  for (const ProbeResult& result : report.results) categories.push_back("sallyport/" + std::string(result.probe->name));
  std::vector<SarifRun> runs;
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    runs.push_back({.tool = report.results[i].probe->name,
                    .category = categories[i],
                    .rules = rules[i],
                    .outcome = &report.results[i].outcome});
  }
  return sarif(runs, version);
}

}  // namespace sallyport::jobs
