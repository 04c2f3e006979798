// gitleaks over the working tree. It always obeys a .gitleaksignore in the scanned directory, so we scan a directory
// that has one entry by entry.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "jobs/probe/all.h"
#include "jobs/probe/parsers.h"
#include "jobs/report/bounded_json.h"
#include "sallyport/digest.h"

namespace sallyport::jobs {
namespace {

constexpr int kLeaksFound = 99;  // chosen by us: gitleaks' own 1 means leaks or an error
constexpr std::size_t kMostPlaces = 256;
constexpr std::string_view kIgnoreFile = ".gitleaksignore";

// The places to scan, none of which directly contains an ignore file: "." or the entries around each ignore file.
std::vector<std::string> places_to_scan(const Survey& files) {
  std::set<std::string> split;  // directories that must not be scanned as a whole
  for (const SurveyedFile& file : files.files) {
    if (file_name(file.path) != kIgnoreFile) continue;
    const std::size_t slash = file.path.rfind('/');
    split.insert(slash == std::string::npos ? "" : file.path.substr(0, slash));
  }
  if (!split.contains("")) return {"."};
  std::set<std::string> places;
  for (const SurveyedFile& file : files.files) {
    std::size_t slash = file.path.find('/');
    while (slash != std::string::npos && split.contains(file.path.substr(0, slash)))
      slash = file.path.find('/', slash + 1);
    places.insert("./" + file.path.substr(0, slash));
  }
  return {places.begin(), places.end()};
}

std::vector<RuleInfo> gitleaks_rules() {
  return {{.id = "gitleaks",
           .severity = Severity::kCritical,
           .summary = "a secret, by the rules of gitleaks",
           .help = "Revoke it, remove it from the history, and keep it in a secret store"}};
}

ScannerOutcome run_gitleaks(const ProbeInput& input) {
  const std::vector<std::string> places = places_to_scan(*input.files);
  if (places.size() > kMostPlaces) {
    return failed(fmt::format("{} ignore files split the repo into {} places, more than {}", kIgnoreFile, places.size(),
                              kMostPlaces));
  }
  Ran ran;
  for (const std::string& place : places) {
    ToolRun run = run_tool(*input.context,
                           {.probe = "gitleaks",
                            .argv = {"gitleaks", "dir", place, "--report-format", "json", "--report-path", "-",
                                     "--exit-code", std::to_string(kLeaksFound), "--log-level", "info", "--no-color"}});
    if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
    auto& answer = std::get<ToolAnswer>(run);
    const int code = answer.invocation.exit_code.value_or(-1);
    if (code != 0 && code != kLeaksFound) return failed(answer, fmt::format("gitleaks exited with {}", code));
    auto parsed = parse_gitleaks(answer.out());
    if (!parsed) return failed(answer, "its output was not understood: " + parsed.error());
    if (!gitleaks_scanned(answer.err())) return failed(answer, "it did not say how much it scanned");
    if ((code == kLeaksFound) != !parsed->findings.empty())
      return failed(answer, "its exit code and its findings contradict each other");
    std::ranges::move(parsed->findings, std::back_inserter(ran.findings));
    ran.invocations.push_back(std::move(answer.invocation));
  }
  sort_and_merge(ran.findings);
  return ran;
}

}  // namespace

OrWhy<Parsed> parse_gitleaks(std::string_view json) {
  const auto document = parse_bounded(json);
  if (!document) return std::unexpected(document.error());
  if (!document->is_array()) return std::unexpected(std::string("not an array"));
  Parsed parsed;
  for (const InJson& leak : *document) {
    const std::string* const rule = string_member(leak, "RuleID");
    const std::string* const file = string_member(leak, "File");
    const std::string* const secret = string_member(leak, "Secret");
    const auto line = number_member(leak, "StartLine");
    if (rule == nullptr || file == nullptr || secret == nullptr || !line) {
      return std::unexpected(std::string("a leak without RuleID, File, Secret or StartLine"));
    }
    const std::uint32_t column = std::max(1U, number_member(leak, "StartColumn").value_or(1));
    parsed.findings.push_back({.rule = "gitleaks",
                               .severity = Severity::kCritical,
                               .message = "a secret, by the rule " + *rule,
                               .place = {.path = file->starts_with("./") ? file->substr(2) : *file,
                                         .line = *line,
                                         .column = column,
                                         .end_line = number_member(leak, "EndLine").value_or(*line),
                                         .end_column = number_member(leak, "EndColumn").value_or(column)},
                               .secret_sha256 = sha256_hex(*secret)});
  }
  return parsed;
}

std::optional<std::uint64_t> gitleaks_scanned(std::string_view stderr_text) {
  constexpr std::string_view kWords = "scanned ~";
  const std::size_t at = stderr_text.find(kWords);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t bytes = 0;
  const char* const begin = stderr_text.data() + at + kWords.size();
  const auto [end, error] = std::from_chars(begin, stderr_text.data() + stderr_text.size(), bytes);
  return error == std::errc() && end != begin ? std::optional(bytes) : std::nullopt;
}

extern constinit const Probe kGitleaks{.name = "gitleaks",
                                       .tool = "gitleaks",
                                       .summary = "secrets in the files",
                                       .rules = gitleaks_rules,
                                       .run = run_gitleaks};

}  // namespace sallyport::jobs
