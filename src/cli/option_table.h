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

#include "cli/format.h"
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

struct Token {
  enum class Kind { kEnd, kSeparator, kOperand, kHelp, kOption } kind = Kind::kEnd;
  std::size_t index = 0;     // kOption: into the table
  std::string_view value{};  // kOption: its value; kOperand: the word
};

// Where a verb's own words end.
enum class WordsEnd {
  kWithTheLine,
  kAtTheTool,  // at `--` or the first operand: what follows belongs to the tool
};

// Reads all of a verb's own words at once, so that --json counts wherever it stands, even after a mistake.
class OptionWalker {
 public:
  // `table` is any sequence of Option<Target>, at most 64 of them. `args` is borrowed. --json among the words sets `format`.
  template <class Table>
  OptionWalker(std::span<const std::string> args, const Table& table, Format& format,
               WordsEnd end = WordsEnd::kWithTheLine)
      : args_(args), table_(table.begin(), table.end()), end_(end) {
    read_all(format);
  }

  // One token after the other, then kEnd.
  [[nodiscard]] Result<Token> next();
  // kAtTheTool: the tool and its arguments.
  [[nodiscard]] std::span<const std::string> rest() const { return args_.subspan(position_); }

 private:
  void read_all(Format& format);
  [[nodiscard]] Result<Token> read_one();
  [[nodiscard]] Result<Token> read_option(std::string_view word);

  std::span<const std::string> args_;
  std::vector<OptionName> table_;
  WordsEnd end_;
  std::size_t position_ = 0;
  std::uint64_t seen_ = 0;  // by index into the table
  std::vector<Result<Token>> tokens_;
  std::size_t given_ = 0;
};

// For words that no verb knows. It is unknown where a tool's own words begin, so this reads up to `--`.
void read_format(std::span<const std::string> args, Format& format);

// For a verb whose options may come anywhere: applies each, and collects the other words. nullopt: the user asked for
// help.
template <class Target, class Table>
[[nodiscard]] Result<std::optional<std::vector<std::string_view>>> apply_options(std::span<const std::string> args,
                                                                                 const Table& table, Target& target,
                                                                                 Format& format) {
  OptionWalker walker(args, table, format);
  std::vector<std::string_view> words;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) return words;
    if (token.kind == Token::Kind::kHelp) return std::nullopt;
    if (token.kind == Token::Kind::kOption) TRY(table[token.index].apply(target, token.value));
    if (token.kind == Token::Kind::kOperand) words.push_back(token.value);
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
