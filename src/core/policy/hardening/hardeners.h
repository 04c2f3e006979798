// One function per tool with hardening; table.cc has a row for each. argv includes argv[0].
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/policy/hardening.h"
#include "core/policy/hardening/facts.h"

namespace sallyport::hardening {

using Argv = std::span<const std::string>;

[[nodiscard]] Result<HardenedCommand> harden_git(Argv argv, const GitConfiguration& git);
// nullopt for a command that reads no repo, or that is refused anyway.
[[nodiscard]] std::optional<GitQuestion> question_before_git(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_npm(Argv argv);
// The first `words` of argv are the command itself: "npx", or "npm exec".
[[nodiscard]] Result<HardenedCommand> harden_npm_exec(Argv argv, std::size_t words);
[[nodiscard]] Result<HardenedCommand> harden_npx(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_ripgrep(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_semgrep(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_gitleaks(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_docker(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_ast_grep(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_scip_typescript(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_syft(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_grype(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_tree_sitter(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_strace(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_node(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_jq(Argv argv);

// What each hardener does, in rows (facts.h).
[[nodiscard]] std::vector<HardeningFact> npm_facts();
[[nodiscard]] std::vector<HardeningFact> npx_facts();
[[nodiscard]] std::vector<HardeningFact> ripgrep_facts();
[[nodiscard]] std::vector<HardeningFact> semgrep_facts();
[[nodiscard]] std::vector<HardeningFact> gitleaks_facts();
[[nodiscard]] std::vector<HardeningFact> ast_grep_facts();
[[nodiscard]] std::vector<HardeningFact> scip_typescript_facts();
[[nodiscard]] std::vector<HardeningFact> syft_facts();
[[nodiscard]] std::vector<HardeningFact> grype_facts();
[[nodiscard]] std::vector<HardeningFact> tree_sitter_facts();
[[nodiscard]] std::vector<HardeningFact> strace_facts();
[[nodiscard]] std::vector<HardeningFact> node_facts();
[[nodiscard]] std::vector<HardeningFact> jq_facts();
[[nodiscard]] std::vector<HardeningFact> docker_facts();

// The allowed words of tools with a closed list.
[[nodiscard]] AdmittedWords git_admitted();
[[nodiscard]] AdmittedWords npm_admitted();
[[nodiscard]] AdmittedWords docker_admitted();
[[nodiscard]] AdmittedWords semgrep_admitted();
[[nodiscard]] AdmittedWords gitleaks_admitted();
[[nodiscard]] AdmittedWords ast_grep_admitted();
[[nodiscard]] AdmittedWords scip_typescript_admitted();
[[nodiscard]] AdmittedWords syft_admitted();
[[nodiscard]] AdmittedWords grype_admitted();
[[nodiscard]] AdmittedWords tree_sitter_admitted();
[[nodiscard]] AdmittedWords strace_admitted();

}  // namespace sallyport::hardening
