// What was in force during one run (docs/contract.md, C26). It lists a guarantee only if the step that establishes it
// succeeded in that run; nothing is silently weaker. Nothing here fails: what a call requires and cannot have is
// GuaranteeUnavailable (error.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sallyport/guarantee.h"
#include "sallyport/jail_kind.h"
#include "sallyport/mechanism.h"
#include "sallyport/plan.h"

namespace sallyport {

struct Established {
  Guarantee guarantee{};
  Mechanism mechanism{};
  bool operator==(const Established&) const = default;
};

// An executed file of this host, as it was at the check.
struct BinaryIdentity {
  std::string path{};  // after following every symlink
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::string sha256{};  // lower-case hex
  bool operator==(const BinaryIdentity&) const = default;
};

// A file of an image from which a jail runs tools; the digest pins the whole image, and so the file.
struct ImageFile {
  std::string image{};   // the image's name, for people
  std::string digest{};  // "sha256:…"
  std::string path{};    // inside the image; or a bare name, which the PATH of that image leads to
  bool operator==(const ImageFile&) const = default;
};

using ExecutableIdentity = std::variant<BinaryIdentity, ImageFile>;

[[nodiscard]] inline const std::string& path_of(const ExecutableIdentity& executable) {
  return std::visit([](const auto& file) -> const std::string& { return file.path; }, executable);
}

struct Receipt {
  JailKind jail{""};  // kNative, kBwrap, kNone, …, or an embedding program's own; never kAuto
  std::vector<Established> established{};
  ExecutableIdentity binary{};
  // Set when the tool is a #! script: its pinned and executed interpreters.
  std::vector<BinaryIdentity> interpreters{};
  std::optional<UserIds> run_as{};  // the repo's owner, if root ran the tool as that user
  std::string policy_digest{};      // SHA-256 over the closed set in force
  // SHA-256 over the plan of the run, without the jail's own variables. Gate::explain() gives the same digest for the
  // same call, unless the repo's git configuration made the gate add overrides (ADR 0026): explain starts no git to
  // read it.
  std::string plan_digest{};

  [[nodiscard]] bool has(Guarantee guarantee) const {
    for (const Established& entry : established) {
      if (entry.guarantee == guarantee) return true;
    }
    return false;
  }
};

}  // namespace sallyport
