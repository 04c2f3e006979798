#include "core/hardening.h"

#include "core/hardening/hardeners.h"

namespace sallyport {

Result<HardenedCommand> harden(const ToolEntry& tool, std::span<const std::string> argv) {
  switch (tool.hardening) {
    case Hardening::kNone:
      break;
    case Hardening::kGit:
      return hardening::harden_git(argv);
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
  }
  return HardenedCommand{.argv = {argv.begin(), argv.end()}, .env = {}};
}

}  // namespace sallyport
