// The seccomp program as on file: what changes in it is read before it is committed (C22).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/seccomp/emulate.h"
#include "core/seccomp/numbers.h"
#include "core/seccomp/program.h"
#include "core/seccomp/shared_host_tcp.h"
#include "golden/golden.h"

namespace sallyport::golden {
namespace {

using namespace seccomp;

std::string answer_text(int error) {
  if (error == kAsk) return "ask";
  return error == kAllow ? "allow" : fmt::format("errno {}", error);
}

Lines rule_text(const Rule& rule) {
  Lines lines;
  for (const Clause& clause : rule.clauses) {
    std::string text;
    for (const Condition& condition : std::span(clause.conditions).first(clause.count)) {
      text += fmt::format("{}arg{} & {:#x} == {:#x}", text.empty() ? "" : " and ", condition.argument, condition.mask,
                          condition.value);
    }
    lines.push_back(fmt::format("{}: {} when {}", rule.call, answer_text(clause.answer), text));
  }
  lines.push_back(fmt::format("{}: {} otherwise", rule.call, answer_text(rule.otherwise)));
  return lines;
}

// One line for each call, and one for each of its clauses; the same on every processor.
Lines rules_text() {
  Lines lines;
  for (const char* name : kAllowed) lines.push_back(fmt::format("{}: allow", name));
  for (const Refusal& refusal : kRefused) lines.push_back(fmt::format("{}: errno {}", refusal.call, refusal.error));
  for (const Rule& rule : kByArguments) {
    const Lines more = rule_text(rule);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  lines.emplace_back("every other call, and every call of another ABI: errno 38");
  return lines;
}

std::string disassembled(const Instruction& one, std::size_t at) {
  const auto target = [&](std::uint32_t distance) { return at + 1 + distance; };
  switch (one.code) {
    case kLoad:
      return fmt::format("load [{}]", one.operand);
    case kAnd:
      return fmt::format("and {:#x}", one.operand);
    case kJump:
      return fmt::format("goto {}", target(one.operand));
    case kJumpEqual:
      return fmt::format("if == {:#x} goto {} else {}", one.operand, target(one.if_true), target(one.if_false));
    case kJumpAtLeast:
      return fmt::format("if >= {} goto {} else {}", one.operand, target(one.if_true), target(one.if_false));
    case kReturn:
      return one.operand == kReturnAllow ? "allow" : fmt::format("errno {}", one.operand & 0xffffU);
    default:
      return fmt::format("unknown {:#x}", one.code);
  }
}

TEST(SeccompGolden, RulesAreAsOnFile_C22) { expect_as_on_file("seccomp_rules", rules_text()); }

TEST(SeccompGolden, RulesOnASharedHostAreAsOnFile_C22_C40) {
  Lines lines;
  for (const Rule& rule : kOnSharedHost) {
    const Lines more = rule_text(rule);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  expect_as_on_file("seccomp_rules_on_shared_host", lines);
}

TEST(SeccompGolden, RulesForTcpOnASharedHostAreAsOnFile_C22_C24) {
  Lines lines;
  for (const Rule& rule : kTcpOnSharedHost) {
    const Lines more = rule_text(rule);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  expect_as_on_file("seccomp_rules_for_tcp_on_shared_host", lines);
}

#ifdef __x86_64__
TEST(SeccompGolden, ProgramIsAsOnFile_C22) {
  Lines lines;
  const std::vector<Instruction> program = instructions_of(seccomp::program());
  for (std::size_t at = 0; at < program.size(); ++at) {
    lines.push_back(fmt::format("{:3} {}", at, disassembled(program[at], at)));
  }
  expect_as_on_file("seccomp_program_x86_64", lines);
}
#endif

}  // namespace
}  // namespace sallyport::golden
