#include "core/policy/hardening/facts.h"

#include "core/policy/hardening.h"
#include "core/policy/hardening/hardeners.h"

namespace sallyport {
std::vector<hardening::HardeningFact> hardening_facts(Hardening hardening) {
  switch (hardening) {
    case Hardening::kNone:
      return {};
    case Hardening::kGit:
      return hardening::git_facts();
    case Hardening::kNpm:
      return hardening::npm_facts();
    case Hardening::kDocker:
      return hardening::docker_facts();
    case Hardening::kRipgrep:
      return hardening::ripgrep_facts();
    case Hardening::kSemgrep:
      return hardening::semgrep_facts();
    case Hardening::kGitleaks:
      return hardening::gitleaks_facts();
    case Hardening::kAstGrep:
      return hardening::ast_grep_facts();
    case Hardening::kScipTypescript:
      return hardening::scip_typescript_facts();
    case Hardening::kSyft:
      return hardening::syft_facts();
    case Hardening::kGrype:
      return hardening::grype_facts();
    case Hardening::kTreeSitter:
      return hardening::tree_sitter_facts();
    case Hardening::kStrace:
      return hardening::strace_facts();
    case Hardening::kNode:
      return hardening::node_facts();
    case Hardening::kJq:
      return hardening::jq_facts();
  }
  return {};
}

namespace hardening {

std::string_view kind_name(HardeningFact::Kind kind) {
  switch (kind) {
    case HardeningFact::Kind::kForced:
      return "forced";
    case HardeningFact::Kind::kRefused:
      return "refused";
    case HardeningFact::Kind::kNeutralised:
      break;
  }
  return "neutralised";
}

}  // namespace hardening
}  // namespace sallyport
