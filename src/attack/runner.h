// Makes each attack twice: carelessly, without the gate (the positive control, which must work), and behind a jail,
// which must stop it. The same code serves the conformance tests and `sallyport doctor --attack`.
//
//   Finding finding = perform(*find_case("read_home"), surroundings, JailKind::kNative);
//   if (finding.jailed.got == Got::kThrough) …  // the guarantee is broken
//
// Leaves nothing behind and never harms the host: what an attack could break is a copy or lies in its own namespaces.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attack/case.h"
#include "attack/world.h"
#include "sallyport/plan.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"

namespace sallyport::attack {

enum class Got {
  kThrough,     // the effect is there
  kBlocked,     // it was tried, and the effect is not there
  kRefused,     // the gate did not start it: the guarantee is unavailable here, and required
  kImpossible,  // this host cannot show it (only without a jail)
  kNotTried,    // something else went wrong; proves nothing
};

// "got through", "blocked", "refused", "impossible here", "not tried".
[[nodiscard]] std::string_view name_of(Got got);

struct Try {
  Got got = Got::kNotTried;
  std::string why{};
};

struct Finding {
  const Case* attack = nullptr;
  Try control{};
  Try jailed{};

  // True when the attack was stopped; an attack that was not tried does not count as safe.
  [[nodiscard]] bool held() const { return jailed.got == Got::kBlocked || jailed.got == Got::kRefused; }
};

[[nodiscard]] Finding perform(const Case& attack, const Surroundings& surroundings, JailKind jail);
// The same for several jails, with one control for all of them.
[[nodiscard]] std::vector<Finding> perform(const Case& attack, const Surroundings& surroundings,
                                           std::span<const JailKind> jails);

// One harmless run: what its receipt lists when this jail works here, else why not.
[[nodiscard]] Result<std::vector<Established>> probe(const Surroundings& surroundings, JailKind jail);
// Whether the gate would start that run. Nothing is started, so only the jail's own programs and files are looked for.
[[nodiscard]] Status could_start(const Surroundings& surroundings, JailKind jail);
// Guarantees that a run must ask for, and their means: hosts, limits, no Unix sockets. Makes one harmless run that asks
// for everything that is not refused here.
[[nodiscard]] Result<std::vector<Established>> probe_what_is_asked_for(const Surroundings& surroundings, JailKind jail);

}  // namespace sallyport::attack
