// syft lists the packages of the repo, grype those with known vulnerabilities. Both get our configuration by name, so
// that none of the repo's applies.
#include <fmt/format.h>

#include <algorithm>

#include "jobs/probe/all.h"
#include "jobs/probe/parsers.h"
#include "jobs/report/bounded_json.h"

namespace sallyport::jobs {
namespace {

constexpr std::string_view kSyftSchema = "16.";

std::string text_of(const InJson& object, std::string_view name) {
  const std::string* const text = string_member(object, name);
  return text == nullptr ? std::string() : *text;
}

bool is_from(const InJson& document, std::string_view tool) {
  const InJson* const descriptor = member(document, "descriptor");
  return descriptor != nullptr && text_of(*descriptor, "name") == tool;
}

std::string first_path(const InJson& artifact) {
  const InJson* const locations = array_member(artifact, "locations");
  if (locations == nullptr || locations->empty()) return {};
  std::string path = text_of(locations->front(), "path");
  path.erase(0, path.find_first_not_of('/'));
  return path;
}

Severity grype_severity(std::string_view grype) {
  if (grype == "Critical") return Severity::kCritical;
  if (grype == "High") return Severity::kHigh;
  if (grype == "Low") return Severity::kLow;
  return grype == "Negligible" ? Severity::kInfo : Severity::kMedium;  // "Unknown" is not harmless
}

OrWhy<void> add_vulnerabilities(const InJson& matches, bool ignored, Parsed& parsed) {
  for (const InJson& match : matches) {
    const InJson* const vulnerability = member(match, "vulnerability");
    const InJson* const artifact = member(match, "artifact");
    if (vulnerability == nullptr || artifact == nullptr)
      return std::unexpected(std::string("a match without its fields"));
    const std::string id = text_of(*vulnerability, "id");
    const std::string name = text_of(*artifact, "name");
    if (id.empty() || name.empty()) return std::unexpected(std::string("a match without id or package"));
    Finding finding{
        .rule = "vulnerable-package",
        .severity = grype_severity(text_of(*vulnerability, "severity")),
        .message = fmt::format("{} {} has the known vulnerability {}", name, text_of(*artifact, "version"), id),
        .place = {.path = first_path(*artifact)}};
    if (ignored)
      finding.suppression = Suppression{.kind = Suppression::Kind::kExternal, .justification = "grype ignored it"};
    parsed.findings.push_back(std::move(finding));
  }
  return {};
}

std::vector<RuleInfo> no_rules() { return {}; }
std::vector<RuleInfo> grype_rules() {
  return {{.id = "vulnerable-package",
           .severity = Severity::kHigh,
           .summary = "a package with a known vulnerability",
           .help = "Update it to a version that is fixed"}};
}

using Parse = OrWhy<Parsed> (*)(std::string_view);
struct AnchoreTool {
  std::string_view name;
  std::string_view config;
  Parse parse;
};

ScannerOutcome run_anchore(const ProbeInput& input, const AnchoreTool& tool) {
  const std::filesystem::path config = input.context->work_dir / fmt::format("{}.yaml", tool.name);
  const bool online = !input.context->allowed_egress.empty();
  if (const Status written = write_own_file(config, fmt::format(fmt::runtime(tool.config), online)); !written) {
    return failed(written.error().message);
  }
  ToolRun run = run_tool(*input.context,
                         {.probe = tool.name,
                          .argv = {std::string(tool.name), "dir:.", "--output", "json", "--config", config.native()},
                          .extra_read_only = {input.context->work_dir},
                          .may_use_network = true});
  if (auto* outcome = std::get_if<ScannerOutcome>(&run)) return std::move(*outcome);
  auto& answer = std::get<ToolAnswer>(run);
  if (answer.invocation.exit_code != 0) {
    return failed(answer, fmt::format("{} exited with {}", tool.name, answer.invocation.exit_code.value_or(-1)));
  }
  auto parsed = tool.parse(answer.out());
  if (!parsed) return failed(answer, "its output was not understood: " + parsed.error());
  // One package in two places gives two findings; the message names the package.
  std::ranges::stable_sort(parsed->findings, {}, &Finding::message);
  return Ran{.findings = std::move(parsed->findings),
             .inventory = std::move(parsed->inventory),
             .invocations = {answer.invocation}};
}

ScannerOutcome run_syft(const ProbeInput& input) {
  return run_anchore(input, {.name = "syft", .config = "check-for-app-update: false\n# {}\n", .parse = parse_syft});
}
ScannerOutcome run_grype(const ProbeInput& input) {
  return run_anchore(input, {.name = "grype",
                             .config = "check-for-app-update: false\nignore: []\ndb:\n  auto-update: {}\n",
                             .parse = parse_grype});
}

}  // namespace

OrWhy<Parsed> parse_syft(std::string_view json) {
  const auto document = parse_bounded(json);
  if (!document) return std::unexpected(document.error());
  const InJson* const schema = member(*document, "schema");
  const InJson* const artifacts = array_member(*document, "artifacts");
  if (!is_from(*document, "syft") || schema == nullptr || artifacts == nullptr ||
      member(*document, "source") == nullptr) {
    return std::unexpected(std::string("not a report of syft"));
  }
  if (!text_of(*schema, "version").starts_with(kSyftSchema)) {
    return std::unexpected("an unknown schema version: " + text_of(*schema, "version"));
  }
  Parsed parsed;
  for (const InJson& artifact : *artifacts) {
    const std::string name = text_of(artifact, "name");
    if (name.empty()) return std::unexpected(std::string("a package without a name"));
    parsed.inventory.push_back({.kind = "package",
                                .name = fmt::format("{} {}", name, text_of(artifact, "version")),
                                .detail = text_of(artifact, "purl"),
                                .path = first_path(artifact)});
  }
  return parsed;
}

OrWhy<Parsed> parse_grype(std::string_view json) {
  const auto document = parse_bounded(json);
  if (!document) return std::unexpected(document.error());
  const InJson* const matches = array_member(*document, "matches");
  const InJson* const descriptor = member(*document, "descriptor");
  if (!is_from(*document, "grype") || matches == nullptr || member(*document, "source") == nullptr) {
    return std::unexpected(std::string("not a report of grype"));
  }
  if (member(*descriptor, "db") == nullptr)
    return std::unexpected(std::string("it had no database of vulnerabilities"));
  Parsed parsed;
  if (const auto added = add_vulnerabilities(*matches, false, parsed); !added) return std::unexpected(added.error());
  if (const InJson* ignored = array_member(*document, "ignoredMatches")) {
    if (const auto added = add_vulnerabilities(*ignored, true, parsed); !added) return std::unexpected(added.error());
  }
  return parsed;
}

extern constinit const Probe kSyft{
    .name = "syft", .tool = "syft", .summary = "the packages the repo holds", .rules = no_rules, .run = run_syft};
extern constinit const Probe kGrype{.name = "grype",
                                    .tool = "grype",
                                    .summary = "packages with known vulnerabilities",
                                    .rules = grype_rules,
                                    .run = run_grype};

}  // namespace sallyport::jobs
