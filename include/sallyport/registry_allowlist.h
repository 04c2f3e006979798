// Which hosts a package manager needs, asked of the operator's own one (C24): no registry's name is written in our code,
// and a company's mirror just works. Never taken from the analysed repo, whose .npmrc a stranger wrote.
//
//   RegistryAllowlist registry = SALLYPORT_TRY(RegistryAllowlist::of_npm(config));
//   registry.apply_to(spec);   // before gate->run(spec, …)
//
// Errors a caller can act on: ToolMissingError (no npm here), InvalidRequest("registry"): npm does not say, or its registry has no
// name that a rule could hold; then name the hosts yourself. The rule: docs/contract.md, C24.
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
  std::string endpoint{};                            // with them: the URL by which a tool in the jail reaches it

  // The one that GateConfig::npm names, itself or by its file: npm would take that one. Else starts `npm config get registry` by the
  // closed set and search path of `config`, without a jail, in a directory of
  // root's. It reads the operator's own .npmrc in HOME and npm's global one. A registry named by an IP address or as
  // localhost is InvalidRequest: no rule can name it, and the hint says what can be done.
  [[nodiscard]] static Result<RegistryAllowlist> of_npm(const GateConfig& config);

  // Adds the operator's credentials at this registry, from the operator's .npmrc. Errors: InvalidRequest("registry_auth"), without any
  // part of them: there are none, the file lies in the analysed repo, a variable in it is not set.
  [[nodiscard]] Status add_credentials(const GateConfig& config);

  // Lets the call reach the hosts, and tells an npm in a jail, where HOME is hidden, which registry to use. What the
  // caller already allows or says comes first.
  void apply_to(JailedSubprocessSpec& spec) const;
};

}  // namespace sallyport
