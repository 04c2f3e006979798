// One attack as plain data: its name, the guarantee that it would break, and how that shows from outside. The deed
// itself is a function of the same name in src/attack/program; the outside world it needs is made by world.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "sallyport/guarantee.h"

namespace sallyport::attack {

// How the effect shows. Never the exit code: a crash, a refusal and a typo all look alike there.
enum class Effect : std::uint8_t {
  kPrintsCanary,   // prints "EFFECT:" and a secret that it never got
  kPrintsBroken,   // prints "EFFECT:broken": the kernel did, or at least examined, what the filter must refuse
  kVictimChanged,  // the victim file of the outside world is no longer as it was
  kFileAppears,    // a file that only a break-out can make is there
  kHeard,          // one of our listeners got something
  kSmuggled,       // the one allowed host received something that it must not get
  kKilled,         // the accomplice outside is dead
  kSurvives,       // a process with our marker lives on after the run
  kFloods,         // more output was kept than the cap allows
  kSetIdLeft,      // a set-id file, one with capabilities or a device node lies in the repo
  kForgesVerdict,  // the run's verdict is not the plain end that really happened
};

// What the outside world provides besides its files and listeners, which are always there.
enum class Prop : std::uint32_t {
  kNothing = 0,
  kWritableRepo = 1U << 0U,
  kAccomplice = 1U << 1U,     // a process outside the jail that holds secrets
  kPartner = 1U << 2U,        // a second run in a jail of its own, side by side with the attacker
  kOpenCorner = 1U << 3U,     // the repo is read-only but for repo/open
  kClosedCorner = 1U << 4U,   // the repo is writable but for repo/shut/protected
  kTerminal = 1U << 5U,       // stdin is a pseudo terminal of ours
  kOwnerDies = 1U << 6U,      // the run's owner is killed in the middle
  kImpostor = 1U << 7U,       // a program with the tool's name where a careless PATH finds it first
  kDefaultSet = 1U << 8U,     // the built-in allowlist instead of one that admits the attack program
  kPinnedTool = 1U << 9U,     // the policy pins the tool's hash, and the file is another one
  kPreload = 1U << 10U,       // the caller asks for LD_PRELOAD
  kSetuidCopy = 1U << 11U,    // a setuid program and one with file capabilities lie in the repo
  kDeviceNode = 1U << 12U,    // a device node lies in the repo
  kNeedsRoot = 1U << 13U,     // without a jail only root can do it
  kEgress = 1U << 14U,        // one host may be reached
  kStdinFile = 1U << 15U,     // stdin is the victim file, open for reading and writing
  kGitRepo = 1U << 20U,       // the repo has git directories of every kind (git_world.cc)
  kSocketInRepo = 1U << 21U,  // listeners of ours have their sockets in the repo
  kWorkspace = 1U << 23U,     // in a jail the repo is a workspace; without a jail it is the host's own
  // A datagram to a group, which a network can refuse only with rules. Where connections are carried and there are no
  // rules, it stays on the jail's own loopback without an error (ADR 0107).
  kToAGroup = 1U << 24U,
  // The attack is on the kernel: a kernel other than the host's may allow it, since that affects only itself.
  kToTheKernel = 1U << 25U,
  kLinkedCorner = 1U << 22U,  // what is protected in the writable repo is a symlink or has a second name
};

[[nodiscard]] constexpr Prop operator|(Prop left, Prop right) {
  return static_cast<Prop>(static_cast<std::uint32_t>(left) | static_cast<std::uint32_t>(right));
}
[[nodiscard]] constexpr bool has(Prop props, Prop one) {
  return (static_cast<std::uint32_t>(props) & static_cast<std::uint32_t>(one)) != 0;
}

struct Case {
  std::string_view name;
  Guarantee guarantee;
  Effect effect;
  Prop props;
  std::string_view deed;  // one line for people
};

}  // namespace sallyport::attack
