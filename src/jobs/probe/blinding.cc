// What the repo contains to blind scanners. It has no effect on our probes, but its presence is a finding.
#include <algorithm>
#include <array>
#include <set>

#include "jobs/probe/all.h"

namespace sallyport::jobs {
namespace {

struct Steering {
  std::string_view name;
  std::string_view tool;
};
// Files that steer or blind a scanner that trusts the repo.
constexpr auto kSteering = std::to_array<Steering>({
    {".semgrepignore", "semgrep"},
    {".gitleaks.toml", "gitleaks"},
    {".gitleaksignore", "gitleaks"},
    {".syft.yaml", "syft"},
    {".syft.yml", "syft"},
    {".grype.yaml", "grype"},
    {".grype.yml", "grype"},
    {"sgconfig.yml", "ast-grep"},
    {"sgconfig.yaml", "ast-grep"},
    {".ignore", "rg and ast-grep"},
    {".rgignore", "rg"},
    {".astgrepignore", "ast-grep"},
    {".semgrep.yml", "semgrep"},
    {".semgrepconfig.yml", "semgrep"},
    {".ripgreprc", "rg"},
    {".trivyignore", "trivy"},
    {".trivyignore.yaml", "trivy"},
    {"trivy.yaml", "trivy"},
    {".snyk", "snyk"},
    {"osv-scanner.toml", "osv-scanner"},
    {".secrets.baseline", "detect-secrets"},
    {".gitguardian.yaml", "ggshield"},
    {".gitguardian.yml", "ggshield"},
    {".trufflehog.yml", "trufflehog"},
    {".banditrc", "bandit"},
    {".bandit", "bandit"},
    {".checkov.yaml", "checkov"},
    {".checkov.yml", "checkov"},
    {".kics.config", "kics"},
    {".nsprc", "better-npm-audit"},
    {"audit-ci.json", "audit-ci"},
    {".bearer.yml", "bearer"},
});

constexpr std::string_view kHelp = "Read why it is there; our probes do not obey it, other people's do";

std::vector<RuleInfo> blinding_rules() {
  return {{.id = "blinding",
           .severity = Severity::kMedium,
           .summary = "a file of the repo steers or blinds scanners",
           .help = std::string(kHelp)},
          {.id = "blinding-git-ignore",
           .severity = Severity::kMedium,
           .summary = "a file with findings is hidden from scanners by git's ignore files",
           .help = std::string(kHelp)}};
}

// Which of the files with findings git's ignore files hide.
std::variant<std::set<std::string>, ScannerOutcome> shown_files(const JobContext& context) {
  ToolRun run =
      run_tool(context, {.probe = "blinding",
                         .argv = {"rg", "--files", "--hidden", "--null", "--no-ignore-dot", "--no-require-git", "."}});
  if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
  const auto& answer = std::get<ToolAnswer>(run);
  if (answer.invocation.exit_code.value_or(2) > 1) return ScannerOutcome(failed(answer, "rg could not list the files"));
  std::set<std::string> files;
  for (std::string_view rest = answer.out(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    std::string_view path = rest.substr(0, end);
    if (path.starts_with("./")) path.remove_prefix(2);
    files.emplace(path);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return files;
}

ScannerOutcome run_nothing(const ProbeInput& input) { return look_for_blinding(input, {}); }

}  // namespace

ScannerOutcome look_for_blinding(const ProbeInput& input, std::span<const ProbeResult> results) {
  Ran ran;
  for (const SurveyedFile& file : input.files->files) {
    const auto* const steering = std::ranges::find(kSteering, file_name(file.path), &Steering::name);
    if (steering == kSteering.end()) continue;
    ran.findings.push_back({.rule = "blinding",
                            .severity = Severity::kMedium,
                            .message = "this file steers or blinds " + std::string(steering->tool),
                            .place = {.path = file.path}});
  }
  std::set<std::string> with_findings;
  for (const ProbeResult& result : results) {
    const auto* const found = std::get_if<Ran>(&result.outcome);
    for (std::size_t i = 0; found != nullptr && i < found->findings.size(); ++i)
      with_findings.insert(found->findings[i].place.path);
  }
  const bool has_ignore_file = std::ranges::any_of(input.files->files, [](const SurveyedFile& file) {
    return file_name(file.path) == ".gitignore" || file.path == ".git/info/exclude";
  });
  with_findings.erase("");
  // rg before 14 always obeys it, with precedence over git's: it can reveal files that git's hide, or hide all files.
  const auto overruling = std::ranges::find_if(
      input.files->files, [](const SurveyedFile& file) { return file_name(file.path) == ".rgignore"; });
  if (has_ignore_file && !with_findings.empty() && overruling != input.files->files.end()) {
    ran.findings.push_back(
        {.rule = "blinding-git-ignore",
         .severity = Severity::kMedium,
         .message = "this file overrides git's ignore files, so it is unknown which files with findings they hide",
         .place = {.path = overruling->path}});
  } else if (has_ignore_file && !with_findings.empty()) {
    auto listed = shown_files(*input.context);
    if (auto* outcome = std::get_if<ScannerOutcome>(&listed)) return std::move(*outcome);
    for (const std::string& path : with_findings) {
      if (std::get<std::set<std::string>>(listed).contains(path) || path.starts_with(".git/")) continue;
      ran.findings.push_back({.rule = "blinding-git-ignore",
                              .severity = Severity::kMedium,
                              .message = "git's ignore files hide this file, and it has findings",
                              .place = {.path = path}});
    }
  }
  sort_and_merge(ran.findings);
  return ran;
}

extern constinit const Probe kBlinding{.name = "blinding",
                                       .tool = "rg",
                                       .summary = "files of the repo that make scanners look away",
                                       .rules = blinding_rules,
                                       .run = run_nothing};

}  // namespace sallyport::jobs
