// The closed, governed set of programs that may be started (docs/contract.md, C2–C4).
//
// Errors a caller can act on: PolicyError has the file, line and column; DisallowedSubprocessError has the name that is
// not in the set.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/egress.h"
#include "sallyport/result.h"

namespace sallyport {

enum class Role {
  kTool,     // a caller may ask for it
  kWrapper,  // only a jail may start it (C4)
};

// Which operating systems the tool exists on; readiness reports the others as not applicable (C29).
enum class Platform { kAny, kLinux, kMacOs };

enum class Need { kMandatory, kOptional };

inline constexpr std::string_view kNoHardening = "none";

// One admitted program. The entry contains everything that a reviewer needs.
struct ToolEntry {
  std::string name{};             // the binary's name, e.g. "rg", never the package's
  std::string decision_record{};  // e.g. "ADR-0003"
  std::string reason{};           // one line
  Role role = Role::kTool;
  std::string install_hint{};  // a command to type
  // The fixed arguments, variables and refusals that it always gets (C28): a name in docs/hardening.md.
  std::string hardening{kNoHardening};
  Platform platform = Platform::kAny;
  Need need = Need::kOptional;
  std::optional<std::string> sha256{};    // lower-case hex; set only by a policy file
  std::vector<HostRule> allowed_hosts{};  // set only by a policy file; the tool may reach these and no other
};

inline constexpr auto kAllowedBinaries = std::to_array<std::string_view>(
    {"git", "node", "docker", "strace", "semgrep", "syft", "grype", "gitleaks", "scip-typescript", "tree-sitter",
     "ast-grep", "rg", "npm", "bwrap", "sandbox-exec", "jq"});

// Whether calls under this set may go unrecorded (C33).
enum class AuditNeed { kOptional, kRequired };

// A closed set. Immutable once made; cheap to copy by reference, compared and digested by content.
class Allowlist {
 public:
  // The built-in 16. No environment variable and no file found by searching can change it (C3).
  [[nodiscard]] static const Allowlist& builtin();
  // Another closed set, made by a program. InvalidRequest("allowlist") when an entry breaks a rule for entries, weakens
  // a built-in tool's hardening, turns a wrapper into a tool, or occurs twice (C3, C4, C28).
  [[nodiscard]] static Result<Allowlist> of(std::vector<ToolEntry> entries, AuditNeed audit = AuditNeed::kOptional);
  // Another closed set, from the text of a policy file that the caller named. Only messages use `file`.
  [[nodiscard]] static Result<Allowlist> from_policy(std::string_view toml, std::string_view file);

  [[nodiscard]] std::span<const ToolEntry> entries() const { return entries_; }
  // kRequired (`audit = "required"` in a policy file): the gate refuses every call that no audit log would record.
  [[nodiscard]] AuditNeed audit_need() const { return audit_; }
  [[nodiscard]] const ToolEntry* find(std::string_view name) const;
  // The entry a *caller* may start as argv[0], or DisallowedSubprocessError with a did-you-mean hint (C2, C4).
  [[nodiscard]] Result<ToolEntry> admit(std::string_view argv0) const;
  // Canonical text of the whole set; its SHA-256 is the receipt's policy_digest.
  [[nodiscard]] std::string canonical_text() const;

 private:
  explicit Allowlist(std::vector<ToolEntry> entries, AuditNeed audit = AuditNeed::kOptional)
      : entries_(std::move(entries)), audit_(audit) {}

  std::vector<ToolEntry> entries_;
  AuditNeed audit_ = AuditNeed::kOptional;
};

}  // namespace sallyport
