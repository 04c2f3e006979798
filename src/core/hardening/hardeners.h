// One function per tool with hardening; harden() picks by the entry's Hardening. Each gets argv[0] too.
#pragma once

#include <span>
#include <string>

#include "core/hardening.h"

namespace sallyport::hardening {

using Argv = std::span<const std::string>;

[[nodiscard]] Result<HardenedCommand> harden_git(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_npm(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_ripgrep(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_semgrep(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_gitleaks(Argv argv);
[[nodiscard]] Result<HardenedCommand> harden_docker(Argv argv);

}  // namespace sallyport::hardening
