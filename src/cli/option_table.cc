#include "cli/option_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"

namespace sallyport::cli {
namespace {

Error option_error(std::string_view name, std::string_view why, std::string_view hint) {
  return invalid_request(fmt::format("option '{}'", printable(name)), why, hint);
}

Error unknown_option(std::string_view name, std::span<const OptionName> table) {
  std::vector<std::string_view> names{"--help"};
  for (const OptionName& option : table) names.push_back(option.name);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "see --help; what belongs to the tool goes after --";
  return option_error(name, "there is no such option", hint);
}

}  // namespace

void OptionWalker::read_all(Format& format) {
  bool at_the_tool = false;
  while (position_ < args_.size() && !at_the_tool) {
    // No option accepts a value that begins with two dashes, so this word is the option itself.
    const std::string_view word = args_[position_];
    if (word == "--json" || word == "--json-stream") format = Format::kJson;
    tokens_.push_back(read_one());
    const Result<Token>& token = tokens_.back();
    at_the_tool = end_ == WordsEnd::kAtTheTool && token &&
                  (token->kind == Token::Kind::kSeparator || token->kind == Token::Kind::kOperand);
  }
}

Result<Token> OptionWalker::next() {
  if (given_ == tokens_.size()) return Token{};
  return std::move(tokens_[given_++]);
}

Result<Token> OptionWalker::read_one() {
  const std::string_view word = args_[position_];
  if (word == "--") {
    ++position_;
    return Token{.kind = Token::Kind::kSeparator};
  }
  // A lone "-" and the empty string are operands, as everywhere.
  if (!word.starts_with('-') || word.size() == 1) {
    if (end_ == WordsEnd::kWithTheLine) ++position_;
    return Token{.kind = Token::Kind::kOperand, .value = word};
  }
  ++position_;
  if (word == "--help" || word == "-h") return Token{.kind = Token::Kind::kHelp};
  return read_option(word);
}

Result<Token> OptionWalker::read_option(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  std::size_t index = 0;
  while (index < table_.size() && table_[index].name != name) ++index;
  if (index == table_.size()) return fail(unknown_option(name, table_));
  Token token{.kind = Token::Kind::kOption, .index = index};
  const Arity arity = table_[index].arity;
  if (arity == Arity::kFlag) {
    if (equals == std::string_view::npos) return token;
    return fail(option_error(name, "takes no value", fmt::format("write just {}", name)));
  }
  if (equals != std::string_view::npos) {
    token.value = word.substr(equals + 1);
  } else {
    // An option's name where a value should be is a forgotten value; a value that really starts so goes after '='.
    const bool missing = position_ == args_.size() || args_[position_].starts_with("--");
    if (missing) return fail(option_error(name, "needs a value", fmt::format("write {0} VALUE or {0}=VALUE", name)));
    token.value = args_[position_++];
  }
  if (token.value.empty()) return fail(option_error(name, "the value is empty", fmt::format("write {} VALUE", name)));
  const std::uint64_t bit = std::uint64_t{1} << index;
  if (arity == Arity::kValue && (seen_ & bit) != 0) {
    return fail(option_error(name, "given more than once", "keep the one you mean"));
  }
  seen_ |= bit;
  return token;
}

void read_format(std::span<const std::string> args, Format& format) {
  const auto separator = std::ranges::find(args, "--");
  const std::vector<OptionName> no_options;
  const std::span<const std::string> ours = args.first(static_cast<std::size_t>(separator - args.begin()));
  [[maybe_unused]] const OptionWalker reads_all(ours, no_options, format);
}

}  // namespace sallyport::cli
