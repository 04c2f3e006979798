// Walks `--name value`, `--name=value` and `--flag` over a table. One table per verb, one line per option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::cli {

enum class Arity {
  kFlag,
  kValue,       // at most once: a second one is probably a mistake
  kRepeatable,  // any number of times, collected
};

struct OptionName {
  std::string_view name;
  Arity arity;
};

template <class Target>
struct Option : OptionName {
  Status (*apply)(Target& target, std::string_view value);
};

// What is at the cursor.
struct Token {
  enum class Kind { kEnd, kSeparator, kOperand, kHelp, kOption } kind = Kind::kEnd;
  std::size_t index = 0;     // kOption: into the table
  std::string_view value{};  // kOption: its value; kOperand: the word
};

class OptionWalker {
 public:
  // `table` is any sequence of Option<Target>, at most 64 of them. `args` is borrowed.
  template <class Table>
  OptionWalker(std::span<const std::string> args, const Table& table)
      : args_(args), table_(table.begin(), table.end()) {}

  // Reads one token and moves on. An operand is not consumed by reading it: take_operand() does that.
  [[nodiscard]] Result<Token> next();
  void take_operand() { ++position_; }
  [[nodiscard]] std::span<const std::string> rest() const { return args_.subspan(position_); }

 private:
  [[nodiscard]] Result<Token> read_option(std::string_view word);

  std::span<const std::string> args_;
  std::vector<OptionName> table_;
  std::size_t position_ = 0;
  std::uint64_t seen_ = 0;  // by index into the table
};

// For a verb whose options may come anywhere: applies each, and collects the other words. nullopt: the user asked for
// help.
template <class Target, class Table>
[[nodiscard]] Result<std::optional<std::vector<std::string_view>>> apply_options(std::span<const std::string> args,
                                                                                 const Table& table, Target& target) {
  OptionWalker walker(args, table);
  std::vector<std::string_view> words;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) return words;
    if (token.kind == Token::Kind::kHelp) return std::nullopt;
    if (token.kind == Token::Kind::kOption) TRY(table[token.index].apply(target, token.value));
    if (token.kind != Token::Kind::kOperand) continue;
    words.push_back(token.value);
    walker.take_operand();
  }
}

// What most options do with their value.
template <class Member>
struct TargetOf;
template <class Target, class Value>
struct TargetOf<Value Target::*> {
  using Type = Target;
};
template <auto kMember>
using TargetWith = typename TargetOf<decltype(kMember)>::Type;

template <auto kMember>
Status set_text(TargetWith<kMember>& target, std::string_view value) {
  target.*kMember = std::string(value);
  return {};
}
template <auto kMember>
Status set_path(TargetWith<kMember>& target, std::string_view value) {
  target.*kMember = std::filesystem::path(value);
  return {};
}
template <auto kMember>
Status add_path(TargetWith<kMember>& target, std::string_view value) {
  (target.*kMember).emplace_back(value);
  return {};
}
template <auto kMember, auto kValue>
Status set_flag(TargetWith<kMember>& target, std::string_view /*value*/) {
  target.*kMember = kValue;
  return {};
}

}  // namespace sallyport::cli
