// The token by which a caller lets npm run scripts that it otherwise never runs (C25): `pretest` and `posttest` around
// the project's own test, and with `npm rebuild NAME …` the install scripts of the named packages. Only the caller
// makes one, so a search for its name finds every such place.
//
// It holds only where the scripts can do the least: npm test, run-script, start, stop, restart, or rebuild with names; in a
// jail; and without any network, which the gate then requires (net.isolated). Everything else with it is refused: InvalidRequest, or
// GuaranteeUnavailable where the jail cannot cut the network. The rule: docs/contract.md, C25.
#pragma once

namespace sallyport {

struct AllowPackageScripts {
  explicit AllowPackageScripts() = default;
};

}  // namespace sallyport
