// One rule of the seccomp filter as a value: the answer to one system call, which may depend on its arguments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace sallyport::seccomp {

// An errno, or one of these.
inline constexpr int kAllow = 0;
inline constexpr int kAsk = -1;  // the run's worker decides, and does it itself (spawn/helper/metadata.cc)

// (argument & mask) == value, over the low 32 bits of the argument. The kernel treats every argument that a condition
// checks as an int, a pid or a mode, and drops the upper half; the filter must drop it too, or a call with a set upper
// half bypasses it (CVE-2019-7303).
struct Condition {
  unsigned argument = 0;
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
};

[[nodiscard]] constexpr Condition equals(unsigned argument, std::uint32_t value) {
  return {argument, 0xffffffffU, value};
}
[[nodiscard]] constexpr Condition masked(unsigned argument, std::uint32_t mask, std::uint32_t value) {
  return {argument, mask, value};
}
[[nodiscard]] constexpr Condition none_of(unsigned argument, std::uint32_t bits) { return {argument, bits, 0}; }

// When every condition holds, the answer is `answer`.
struct Clause {
  static constexpr std::size_t kMost = 3;
  std::array<Condition, kMost> conditions{};
  std::size_t count = 0;
  int answer = kAllow;

  template <class... Conditions>
  explicit constexpr Clause(int given, Conditions... all) : conditions{all...}, count(sizeof...(all)), answer(given) {
    static_assert(sizeof...(all) >= 1 && sizeof...(all) <= kMost);
  }
};

// The first clause that holds answers; `otherwise` when none does.
struct Rule {
  const char* call = nullptr;
  int otherwise = kAllow;
  std::span<const Clause> clauses{};
};

// The rule's answer to these arguments; the compiled program must give the same.
[[nodiscard]] constexpr int answer_of(const Rule& rule, std::span<const std::uint64_t, 6> arguments) {
  for (const Clause& clause : rule.clauses) {
    const bool holds =
        std::ranges::all_of(std::span(clause.conditions).first(clause.count), [&](const Condition& condition) {
          return (static_cast<std::uint32_t>(arguments[condition.argument]) & condition.mask) == condition.value;
        });
    if (holds) return clause.answer;
  }
  return rule.otherwise;
}

}  // namespace sallyport::seccomp
