#include "core/policy/hardening.h"

#include <fmt/format.h>

#include <iterator>

#include "core/errors.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/hardeners.h"

namespace sallyport {

namespace {

Result<HardenedCommand> harden_for(const ToolEntry& tool, std::span<const std::string> argv,
                                   const GitConfiguration& git) {
  switch (tool.hardening) {
    case Hardening::kNone:
      break;
    case Hardening::kGit:
      return hardening::harden_git(argv, git);
    case Hardening::kNpm:
      return hardening::harden_npm(argv);
    case Hardening::kRipgrep:
      return hardening::harden_ripgrep(argv);
    case Hardening::kSemgrep:
      return hardening::harden_semgrep(argv);
    case Hardening::kGitleaks:
      return hardening::harden_gitleaks(argv);
    case Hardening::kDocker:
      return hardening::harden_docker(argv);
    case Hardening::kAstGrep:
      return hardening::harden_ast_grep(argv);
    case Hardening::kScipTypescript:
      return hardening::harden_scip_typescript(argv);
    case Hardening::kSyft:
      return hardening::harden_syft(argv);
    case Hardening::kGrype:
      return hardening::harden_grype(argv);
    case Hardening::kTreeSitter:
      return hardening::harden_tree_sitter(argv);
    case Hardening::kStrace:
      return hardening::harden_strace(argv);
    case Hardening::kNode:
      return hardening::harden_node(argv);
    case Hardening::kJq:
      return hardening::harden_jq(argv);
  }
  return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}};
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<HardenedCommand> harden(const ToolEntry& tool, std::span<const std::string> argv, const GitConfiguration& git) {
  HardenedCommand command = TRY(harden_for(tool, argv, git));
  if (tool.hardening != Hardening::kGit) hardening::add_to_git_env_for_children(command.env, git);
  return command;
}

std::optional<GitQuestion> git_question(const ToolEntry& tool, std::span<const std::string> argv) {
  switch (tool.hardening) {
    case Hardening::kGit:
      return hardening::question_before_git(argv);
    case Hardening::kNpm:
    case Hardening::kSemgrep:
    case Hardening::kGitleaks:
    case Hardening::kSyft:
    case Hardening::kGrype:
      return GitQuestion{.argv = {"git", "config", "--list", "-z"}, .enters_submodules = true};
    default:
      return std::nullopt;
  }
}

Result<HardenedCommand> harden(const Allowlist& allowlist, const ToolEntry& tool, std::span<const std::string> argv,
                               const GitConfiguration& git) {
  HardenedCommand outer = TRY(harden(tool, argv, git));
  if (outer.inner_at == 0) return outer;
  const std::span<const std::string> rest = std::span<const std::string>(outer.argv).subspan(outer.inner_at);
  const ToolEntry inner_tool = TRY(allowlist.admit(rest.front()));
  if (inner_tool.hardening == tool.hardening) {
    return fail(disallowed_subprocess(inner_tool.name, fmt::format("{} may not start itself", tool.name),
                                      "name the tool to run"));
  }
  // The gate asks git about the repo before such a tool runs, and only when it starts the tool itself.
  if (git_question(inner_tool, rest)) {
    return fail(
        disallowed_subprocess(inner_tool.name, fmt::format("{} may not start it", tool.name), "run it by itself"));
  }
  HardenedCommand inner = TRY(harden(inner_tool, rest));
  outer.argv.resize(outer.inner_at);
  append(outer.argv, std::move(inner.argv));
  append(outer.env, std::move(inner.env));
  append(outer.files, std::move(inner.files));
  if (outer.needs_jail.empty()) outer.needs_jail = std::move(inner.needs_jail);
  outer.needs_host = std::move(inner.needs_host);
  return outer;
}

}  // namespace sallyport
