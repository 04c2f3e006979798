#include "core/seccomp/compile.h"

#include <bit>
#include <cerrno>
#include <utility>

namespace sallyport::seccomp {
namespace {

using Code = std::vector<Instruction>;

void append(Code& code, const Code& more) { code.insert(code.end(), more.begin(), more.end()); }

Instruction answer(int error) {
  if (error == kAllow) return {.code = kReturn, .operand = kReturnAllow};
  if (error == kAsk) return {.code = kReturn, .operand = kReturnAsk};
  return {.code = kReturn, .operand = kReturnErrno | static_cast<unsigned>(error)};
}

// Each condition jumps past the clause when it does not hold.
Code compile(const Clause& clause) {
  Code code = {answer(clause.answer)};
  for (std::size_t i = clause.count; i-- > 0;) {
    const Condition& condition = clause.conditions[i];
    const auto behind = static_cast<std::uint8_t>(code.size());
    Code tested = {{.code = kLoad, .operand = argument_at(condition.argument)}};
    if (condition.mask != 0xffffffffU) tested.push_back({.code = kAnd, .operand = condition.mask});
    tested.push_back({.code = kJumpEqual, .if_true = 0, .if_false = behind, .operand = condition.value});
    append(tested, code);
    code = std::move(tested);
  }
  return code;
}

Code compile(const Rule& rule) {
  Code code;
  for (const Clause& clause : rule.clauses) append(code, compile(clause));
  code.push_back(answer(rule.otherwise));
  return code;
}

// All numbers from `first` up to the next range get the same answer.
struct Range {
  std::uint32_t first;
  Code code;
};

std::vector<Range> ranges_of(std::span<const NumberedRule> rules) {
  std::vector<Range> ranges = {{0, {answer(ENOSYS)}}};
  const auto begin_at = [&](std::uint32_t number, Code code) {
    if (ranges.back().first == number) {
      ranges.pop_back();
    }
    if (ranges.empty() || ranges.back().code != code) ranges.push_back({number, std::move(code)});
  };
  for (const NumberedRule& numbered : rules) {
    begin_at(numbered.number, compile(numbered.rule));
    begin_at(numbered.number + 1, {answer(ENOSYS)});
  }
  return ranges;
}

// A binary search over the ranges. A conditional jump reaches 255 instructions, an unconditional one any distance.
Code search(std::span<const Range> ranges) {
  if (ranges.size() == 1) return ranges.front().code;
  const std::size_t middle = ranges.size() / 2;
  const Code below = search(ranges.first(middle));
  const Code from = search(ranges.subspan(middle));
  Code code;
  if (below.size() <= 255) {
    code = {{.code = kJumpAtLeast,
             .if_true = static_cast<std::uint8_t>(below.size()),
             .if_false = 0,
             .operand = ranges[middle].first}};
  } else {
    code = {{.code = kJumpAtLeast, .if_true = 0, .if_false = 1, .operand = ranges[middle].first},
            {.code = kJump, .operand = static_cast<std::uint32_t>(below.size())}};
  }
  append(code, below);
  append(code, from);
  return code;
}

}  // namespace

std::uint32_t argument_at(unsigned index) {
  constexpr std::uint32_t kArgumentsAt = 16;
  constexpr std::uint32_t kLowHalf = std::endian::native == std::endian::little ? 0 : 4;
  return kArgumentsAt + 8 * index + kLowHalf;
}

std::vector<Instruction> compile(std::uint32_t architecture, std::span<const NumberedRule> rules) {
  Code code = {{.code = kLoad, .operand = kArchitectureAt},
               {.code = kJumpEqual, .if_true = 1, .if_false = 0, .operand = architecture},
               answer(ENOSYS),
               {.code = kLoad, .operand = kNumberAt}};
  append(code, search(ranges_of(rules)));
  return code;
}

}  // namespace sallyport::seccomp
