// Which hosts a package manager needs, according to the operator's own one (C24): our code names no registry, so a
// company's mirror works too. Never from the analysed repo, whose .npmrc is untrusted.
//
//   RegistryAllowlist registry = SALLYPORT_TRY(RegistryAllowlist::of_npm(config));
//   registry.apply_to(spec);   // before the run of it
//
// Errors a caller can act on: ToolMissingError (no npm here), InvalidRequest("registry"): npm does not name one, or its
// registry has no name for a rule; then name the hosts yourself. The rule: docs/contract.md, C24.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sallyport/gate.h"

namespace sallyport {

struct RegistryAllowlist {
  std::string registry{};                            // the URL, as npm has it configured
  std::vector<HostRule> hosts{};                     // may be private: a mirror often is
  std::optional<RegistryCredentials> credentials{};  // see add_credentials()
  std::string endpoint{};                            // if set: the registry's URL for a tool in the jail

  // The registry that GateConfig::npm names, itself or in its file, since npm would use that one. Otherwise starts `npm
  // config get registry` with the closed set and search path of `config`, without a jail, in a directory that root
  // owns. It reads the operator's own .npmrc in HOME and npm's global one. A registry named by an IP address or as
  // localhost is InvalidRequest: no rule can name it, and the hint says what to do.
  [[nodiscard]] static Result<RegistryAllowlist> of_npm(const GateConfig& config);

  // Adds the operator's credentials at this registry, from the operator's .npmrc. Errors:
  // InvalidRequest("registry_auth"), whose text contains no part of them: there are none, the file lies in the analysed
  // repo, or a variable in it is not set.
  [[nodiscard]] Status add_credentials(const GateConfig& config);

  // Allows the call the hosts, and gives an npm in a jail, where HOME is hidden, the registry to use. What the caller
  // already allows or sets comes first.
  void apply_to(JailedSubprocessSpec& spec) const;
};

}  // namespace sallyport
