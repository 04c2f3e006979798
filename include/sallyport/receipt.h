// What was really in force during one run (C26). A guarantee is listed only after the step that establishes it
// succeeded in that run; nothing is ever silently weaker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/guarantee.h"

namespace sallyport {

struct Established {
  Guarantee guarantee;
  std::string mechanism{};  // how: "namespace", "cgroup.v1", "rlimit", "supervisor" …
};

// The file that was executed, as it was when it was checked.
struct BinaryIdentity {
  std::string path{};  // after following every symlink
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::string sha256{};  // lower-case hex
  bool operator==(const BinaryIdentity&) const = default;
};

struct Receipt {
  std::string jail{};  // "native", "bwrap", "none"
  std::vector<Established> established{};
  BinaryIdentity binary{};
  // Set when the tool is a #! script: the interpreter that was pinned and executed for it.
  std::vector<BinaryIdentity> interpreters{};
  std::string policy_digest{};  // SHA-256 over the closed set in force
  std::string plan_digest{};    // SHA-256 over the plan as `explain` prints it

  [[nodiscard]] bool has(Guarantee guarantee) const {
    for (const Established& entry : established) {
      if (entry.guarantee == guarantee) return true;
    }
    return false;
  }
};

}  // namespace sallyport
