// Which jails the suites run over. The contract suite runs over every jail of the gate. The other suites run over the jails listed
// here, which start quickly, and select them by what each keeps the tool from.
#pragma once

#include <array>
#include <ostream>
#include <vector>

#include "sallyport/jail_kind.h"

namespace sallyport {

// GoogleTest finds it beside the type, and prints bytes without it.
inline void PrintTo(const JailKind& jail, std::ostream* out) { *out << jail.name(); }  // NOLINT: its name

}  // namespace sallyport

namespace sallyport::test {

enum class Keeps {
  kNothing,  // the tool runs where its caller is
  kRules,    // the host's own files and processes, behind rules
  kRoot,     // a root and namespaces of the run's own
};

struct TestedJail {
  JailKind kind;
  Keeps keeps;
};

inline constexpr auto kTestedJails = std::to_array<TestedJail>({
    {JailKind::kNone, Keeps::kNothing},
    {JailKind::kNative, Keeps::kRoot},
    {JailKind::kBwrap, Keeps::kRoot},
    {JailKind::kLandlock, Keeps::kRules},
    {kOciJail, Keeps::kRoot},
});

template <class Wanted>
[[nodiscard]] std::vector<JailKind> tested_jails(Wanted wanted) {
  std::vector<JailKind> kinds;
  for (const TestedJail& jail : kTestedJails) {
    if (wanted(jail.keeps)) kinds.push_back(jail.kind);
  }
  return kinds;
}

[[nodiscard]] inline std::vector<JailKind> all_jails() {  // and none
  return tested_jails([](Keeps) { return true; });
}
[[nodiscard]] inline std::vector<JailKind> confining_jails() {
  return tested_jails([](Keeps keeps) { return keeps != Keeps::kNothing; });
}
[[nodiscard]] inline std::vector<JailKind> jails_with_a_root() {
  return tested_jails([](Keeps keeps) { return keeps == Keeps::kRoot; });
}
[[nodiscard]] inline std::vector<JailKind> jails_without_rules() {  // and none
  return tested_jails([](Keeps keeps) { return keeps != Keeps::kRules; });
}

}  // namespace sallyport::test
