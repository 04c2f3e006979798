// The common form of every scanner's answer: one finding, one rule, one place. Findings carry no text of the scanned
// files: a line may hold a secret, and a secret never appears in any output, only its hash and its place (C38).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::jobs {

enum class Severity { kInfo, kLow, kMedium, kHigh, kCritical };

[[nodiscard]] std::string_view name_of(Severity severity);
[[nodiscard]] std::optional<Severity> severity_named(std::string_view name);

// A rule as the report describes it. The texts are ours, never the scanned repo's.
struct RuleInfo {
  std::string id{};
  Severity severity = Severity::kMedium;
  std::string summary{};  // one line: what was found
  std::string help{};     // what to do about it
};

// A request to hide the finding. We keep and mark the finding, and never drop it.
struct Suppression {
  enum class Kind { kInSource, kExternal };
  Kind kind = Kind::kInSource;
  std::string justification{};
};

// Against an earlier report.
enum class BaselineState { kNone, kNew, kUnchanged, kAbsent };

// Lines and columns count from 1; columns count code points. Line 0: the whole file, or no file at all.
struct Place {
  std::string path{};  // bytes, relative to the repo; empty: the repo itself
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t end_line = 0;
  std::uint32_t end_column = 0;
  auto operator<=>(const Place&) const = default;
};

struct Finding {
  std::string rule{};
  Severity severity = Severity::kMedium;
  std::string message{};
  Place place{};
  std::string fingerprint{};    // GitHub's primaryLocationLineHash, or one of our own for findings without a line
  std::string secret_sha256{};  // of the secret that stands there; empty: it is none
  std::optional<Suppression> suppression{};
  BaselineState baseline = BaselineState::kNone;
};

// Something a scanner saw that is no finding: a package, a symbol, the coverage of a file.
struct InventoryItem {
  std::string kind{};
  std::string name{};
  std::string detail{};
  std::string path{};
};

// By place, then rule; findings of the same rule at the same place are one. An unsuppressed finding replaces a
// suppressed one.
void sort_and_merge(std::vector<Finding>& findings);

}  // namespace sallyport::jobs
