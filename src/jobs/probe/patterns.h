// The curated patterns of rg_curated, as data. Each has examples that the tests give to the real rg.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "jobs/report/finding.h"

namespace sallyport::jobs {

enum class PatternKind { kSecret, kCode };

struct Pattern {
  std::string_view id;
  PatternKind kind;
  Severity severity;
  std::string_view regex;  // ripgrep's own syntax
  // Every match begins with one of these, and no match of an earlier pattern does: rg does not report which pattern
  // matched.
  std::array<std::string_view, 9> beginnings;
  std::string_view summary;
  std::string_view help;
  std::array<std::string_view, 2> positive;
  std::array<std::string_view, 2> negative;
};

[[nodiscard]] std::span<const Pattern> curated_patterns();
// Null when no pattern's match begins like that. Ignores case.
[[nodiscard]] const Pattern* pattern_of_match(std::string_view match);

}  // namespace sallyport::jobs
