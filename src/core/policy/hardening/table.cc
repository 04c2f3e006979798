#include "core/policy/hardening/table.h"

#include <algorithm>
#include <array>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {
namespace {

// For the hardeners that need only the arguments.
template <auto kHarden>
Result<HardenedCommand> by_argv(Argv argv, const GitConfiguration& /*git*/) {
  return kHarden(argv);
}

Result<HardenedCommand> harden_nothing(Argv argv) {
  return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}};
}

std::vector<HardeningFact> no_facts() { return {}; }

std::optional<GitQuestion> of_a_tool_that_starts_git(Argv /*argv*/) {
  return GitQuestion{.argv = {"git", "config", "--list", "-z"}, .enters_submodules = true};
}

constexpr auto kTable = std::to_array<HardeningRow>({
    {kNoHardening, by_argv<harden_nothing>, no_facts},
    {"git", harden_git, git_facts, question_before_git, git_admitted},
    {"npm", by_argv<harden_npm>, npm_facts, of_a_tool_that_starts_git, npm_admitted},
    {"npx", by_argv<harden_npx>, npx_facts, of_a_tool_that_starts_git},
    {"rg", by_argv<harden_ripgrep>, ripgrep_facts},
    {"semgrep", by_argv<harden_semgrep>, semgrep_facts, of_a_tool_that_starts_git, semgrep_admitted},
    {"gitleaks", by_argv<harden_gitleaks>, gitleaks_facts, of_a_tool_that_starts_git, gitleaks_admitted},
    {"docker", by_argv<harden_docker>, docker_facts, nullptr, docker_admitted},
    {"ast-grep", by_argv<harden_ast_grep>, ast_grep_facts, nullptr, ast_grep_admitted},
    {"scip-typescript", by_argv<harden_scip_typescript>, scip_typescript_facts, nullptr, scip_typescript_admitted},
    {"syft", by_argv<harden_syft>, syft_facts, of_a_tool_that_starts_git, syft_admitted},
    {"grype", by_argv<harden_grype>, grype_facts, of_a_tool_that_starts_git, grype_admitted},
    {"tree-sitter", by_argv<harden_tree_sitter>, tree_sitter_facts, nullptr, tree_sitter_admitted},
    {"strace", by_argv<harden_strace>, strace_facts, nullptr, strace_admitted},
    {"node", by_argv<harden_node>, node_facts},
    {"jailed", by_argv<harden_node>, node_facts},
    {"jq", by_argv<harden_jq>, jq_facts},
});

}  // namespace

const HardeningRow* find_hardening(std::string_view name) {
  const auto* const found = std::ranges::find(kTable, name, &HardeningRow::name);
  return found == kTable.end() ? nullptr : found;
}

std::vector<std::string_view> hardening_names() {
  std::vector<std::string_view> names;
  for (const HardeningRow& row : kTable) names.push_back(row.name);
  return names;
}

}  // namespace sallyport::hardening
