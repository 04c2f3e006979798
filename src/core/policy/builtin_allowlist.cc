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
  std::string_view hardening;
  std::string_view reason;
  std::string_view install_hint;
  std::string_view tested{};
  Role role = Role::kTool;
  Platform platform = Platform::kAny;
};

// Mandatory tools are those that our main job needs: it can read a repo without any of the others (ADR-0003, ADR-0004).
constexpr auto kTable = std::to_array<Row>({
    Row{"git", kGitRecord, Need::kMandatory, "git", "reads the history and state of the analysed repo",
        "apt-get install git", "2.39.5"},
    Row{"node", kNodeRecord, Need::kOptional, "node", "runs the repo's JavaScript and the tools written in it",
        "apt-get install nodejs", "20.20.2"},
    Row{"docker", kAnalysisRecord, Need::kOptional, "docker", "starts the container a runtime trace observes",
        "apt-get install docker.io"},
    Row{"strace", kAnalysisRecord, Need::kOptional, "strace", "records the system calls of a traced program",
        "apt-get install strace", "6.1", Role::kTool, Platform::kLinux},
    Row{"semgrep", kAnalysisRecord, Need::kOptional, "semgrep", "finds code patterns by rule", "pipx install semgrep"},
    Row{"syft", kAnalysisRecord, Need::kOptional, "syft", "lists the packages a tree contains",
        "install a release of anchore/syft into the trusted search path"},
    Row{"grype", kAnalysisRecord, Need::kOptional, "grype", "matches packages with known vulnerabilities",
        "install a release of anchore/grype into the trusted search path"},
    Row{"gitleaks", kAnalysisRecord, Need::kOptional, "gitleaks", "finds secrets in files and history",
        "install a release of gitleaks, 8.27 or newer, into the trusted search path"},
    Row{"scip-typescript", kAnalysisRecord, Need::kOptional, "scip-typescript",
        "indexes the symbols of TypeScript code", "npm install --global @sourcegraph/scip-typescript", "0.4.0"},
    Row{"tree-sitter", kAnalysisRecord, Need::kOptional, "tree-sitter", "parses source files into syntax trees",
        "cargo install tree-sitter-cli"},
    Row{"ast-grep", kAnalysisRecord, Need::kOptional, "ast-grep", "searches code by syntax tree",
        "cargo install ast-grep", "0.51.0"},
    Row{"rg", kAnalysisRecord, Need::kOptional, "rg", "searches text in large trees", "apt-get install ripgrep",
        "13.0.0"},
    Row{"npm", kValidationRecord, Need::kOptional, "npm", "resolves, installs and tests a repo's packages",
        "apt-get install npm", "11.19.1"},
    Row{"bwrap", kValidationRecord, Need::kOptional, kNoHardening, "builds the bwrap jail on Linux",
        "apt-get install bubblewrap", "0.8.0", Role::kWrapper, Platform::kLinux},
    Row{"sandbox-exec",
        kValidationRecord,
        Need::kOptional,
        kNoHardening,
        "builds the jail on macOS",
        "part of macOS; nothing to install",
        {},
        Role::kWrapper,
        Platform::kMacOs},
    Row{"jq", kValidationRecord, Need::kOptional, "jq", "reads and reshapes JSON reports", "apt-get install jq", "1.6"},
});

constexpr bool names_match_public_list() { return std::ranges::equal(kTable, kAllowedBinaries, {}, &Row::name); }
static_assert(names_match_public_list(), "kAllowedBinaries and the table must hold the same names in the same order");

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
                       .hardening = std::string(row.hardening),
                       .platform = row.platform,
                       .need = row.need,
                       .sha256 = std::nullopt,
                       .allowed_hosts = {}});
  }
  return entries;
}

std::optional<std::string_view> builtin_hardening(std::string_view name) {
  const Row* const row = find_row(name);
  return row == nullptr ? std::nullopt : std::optional(row->hardening);
}

bool is_builtin_wrapper(std::string_view name) {
  const Row* const row = find_row(name);
  return row != nullptr && row->role == Role::kWrapper;
}

std::string_view tested_version(std::string_view name) {
  const Row* const row = find_row(name);
  return row == nullptr ? std::string_view() : row->tested;
}

}  // namespace sallyport
