#include "core/policy/builtin_allowlist.h"

#include <algorithm>
#include <array>
#include <string>

namespace sallyport {
namespace {

constexpr std::string_view kGitRecord = "ADR-0001";
constexpr std::string_view kNodeRecord = "ADR-0002";
constexpr std::string_view kAnalysisRecord = "ADR-0003";
constexpr std::string_view kValidationRecord = "ADR-0004";

struct Row {
  std::string_view name;
  std::string_view decision_record;
  Need need;
  Hardening hardening;
  std::string_view reason;
  std::string_view install_hint;
  Role role = Role::kTool;
  Platform platform = Platform::kAny;
};

// Mandatory is what our own main job needs: a repo can be read without any of the others (ADR-0003, ADR-0004).
constexpr auto kTable = std::to_array<Row>({
    Row{"git", kGitRecord, Need::kMandatory, Hardening::kGit, "reads the history and state of the analysed repo",
        "apt-get install git"},
    Row{"node", kNodeRecord, Need::kOptional, Hardening::kNode,
        "runs the repo's JavaScript and the tools written in it", "apt-get install nodejs"},
    Row{"docker", kAnalysisRecord, Need::kOptional, Hardening::kDocker, "starts the container a runtime trace observes",
        "apt-get install docker.io"},
    Row{"strace", kAnalysisRecord, Need::kOptional, Hardening::kStrace, "records the system calls of a traced program",
        "apt-get install strace", Role::kTool, Platform::kLinux},
    Row{"semgrep", kAnalysisRecord, Need::kOptional, Hardening::kSemgrep, "finds code patterns by rule",
        "pipx install semgrep"},
    Row{"syft", kAnalysisRecord, Need::kOptional, Hardening::kSyft, "lists the packages a tree contains",
        "install a release of anchore/syft into the trusted search path"},
    Row{"grype", kAnalysisRecord, Need::kOptional, Hardening::kGrype, "matches packages with known vulnerabilities",
        "install a release of anchore/grype into the trusted search path"},
    Row{"gitleaks", kAnalysisRecord, Need::kOptional, Hardening::kGitleaks, "finds secrets in files and history",
        "install a release of gitleaks, 8.27 or newer, into the trusted search path"},
    Row{"scip-typescript", kAnalysisRecord, Need::kOptional, Hardening::kScipTypescript,
        "indexes the symbols of TypeScript code", "npm install --global @sourcegraph/scip-typescript"},
    Row{"tree-sitter", kAnalysisRecord, Need::kOptional, Hardening::kTreeSitter,
        "parses source files into syntax trees", "cargo install tree-sitter-cli"},
    Row{"ast-grep", kAnalysisRecord, Need::kOptional, Hardening::kAstGrep, "searches code by syntax tree",
        "cargo install ast-grep"},
    Row{"rg", kAnalysisRecord, Need::kOptional, Hardening::kRipgrep, "searches text in large trees",
        "apt-get install ripgrep"},
    Row{"npm", kValidationRecord, Need::kOptional, Hardening::kNpm, "resolves, installs and tests a repo's packages",
        "apt-get install npm"},
    Row{"bwrap", kValidationRecord, Need::kOptional, Hardening::kNone, "builds the bwrap jail on Linux",
        "apt-get install bubblewrap", Role::kWrapper, Platform::kLinux},
    Row{"sandbox-exec", kValidationRecord, Need::kOptional, Hardening::kNone, "builds the jail on macOS",
        "part of macOS; nothing to install", Role::kWrapper, Platform::kMacOs},
    Row{"jq", kValidationRecord, Need::kOptional, Hardening::kJq, "reads and reshapes JSON reports",
        "apt-get install jq"},
});

constexpr bool names_match_public_list() { return std::ranges::equal(kTable, kAllowedBinaries, {}, &Row::name); }
static_assert(names_match_public_list(), "kAllowedBinaries and the table must hold the same names in the same order");

struct HardeningName {
  Hardening hardening;
  std::string_view name;
};
constexpr auto kHardeningNames = std::to_array<HardeningName>({
    HardeningName{Hardening::kNone, "none"},
    HardeningName{Hardening::kGit, "git"},
    HardeningName{Hardening::kNpm, "npm"},
    HardeningName{Hardening::kRipgrep, "rg"},
    HardeningName{Hardening::kSemgrep, "semgrep"},
    HardeningName{Hardening::kGitleaks, "gitleaks"},
    HardeningName{Hardening::kDocker, "docker"},
    HardeningName{Hardening::kAstGrep, "ast-grep"},
    HardeningName{Hardening::kScipTypescript, "scip-typescript"},
    HardeningName{Hardening::kSyft, "syft"},
    HardeningName{Hardening::kGrype, "grype"},
    HardeningName{Hardening::kTreeSitter, "tree-sitter"},
    HardeningName{Hardening::kStrace, "strace"},
    HardeningName{Hardening::kNode, "node"},
    HardeningName{Hardening::kJq, "jq"},
});

const Row* find_row(std::string_view name) {
  const auto* const row = std::ranges::find(kTable, name, &Row::name);
  return row == kTable.end() ? nullptr : row;
}

}  // namespace

std::vector<ToolEntry> builtin_entries() {
  std::vector<ToolEntry> entries;
  entries.reserve(kTable.size());
  for (const Row& row : kTable) {
    entries.push_back({.name = std::string(row.name),
                       .decision_record = std::string(row.decision_record),
                       .reason = std::string(row.reason),
                       .role = row.role,
                       .install_hint = std::string(row.install_hint),
                       .hardening = row.hardening,
                       .platform = row.platform,
                       .need = row.need,
                       .sha256 = std::nullopt,
                       .allowed_hosts = {}});
  }
  return entries;
}

std::optional<Hardening> builtin_hardening(std::string_view name) {
  const Row* const row = find_row(name);
  return row == nullptr ? std::nullopt : std::optional(row->hardening);
}

bool is_builtin_wrapper(std::string_view name) {
  const Row* const row = find_row(name);
  return row != nullptr && row->role == Role::kWrapper;
}

std::string_view hardening_name(Hardening hardening) {
  return std::ranges::find(kHardeningNames, hardening, &HardeningName::hardening)->name;
}

std::vector<std::string_view> hardening_names() {
  std::vector<std::string_view> names;
  for (const HardeningName& entry : kHardeningNames) names.push_back(entry.name);
  return names;
}

std::optional<Hardening> hardening_named(std::string_view name) {
  const auto* const found = std::ranges::find(kHardeningNames, name, &HardeningName::name);
  return found == kHardeningNames.end() ? std::nullopt : std::optional(found->hardening);
}

std::string_view role_name(Role role) { return role == Role::kWrapper ? "wrapper" : "tool"; }

}  // namespace sallyport
