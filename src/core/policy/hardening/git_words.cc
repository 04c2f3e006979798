#include "core/policy/hardening/git_words.h"

#include <algorithm>
#include <array>

#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

// For these options git takes the next word as the value, whatever it begins with: get_arg() of parse-options.c,
// parse_long_opt() of diff.c. Only whole names, and only the commands where the letter means this (blame -S is
// something else).
struct TakesNextWord {
  std::string_view command;
  std::string_view options;  // blanks between them
};
constexpr auto kTakesNextWord = std::to_array<TakesNextWord>({
    {"log", "-S -G --grep --author --committer"},
    {"show", "-S -G --grep --author --committer"},
    {"whatchanged", "-S -G --grep --author --committer"},
    {"rev-list", "--grep --author --committer"},
    {"diff", "-S -G"},
    {"diff-files", "-S -G"},
    {"diff-index", "-S -G"},
    {"diff-tree", "-S -G"},
    {"grep", "-e"},
    {"commit", "-m --message"},
    {"tag", "-m --message"},
    {"merge", "-m"},
});

// Letters without a value, so that a "--" after a cluster of them ends the options.
struct PlainLetters {
  std::string_view command;
  std::string_view letters;
};
constexpr auto kPlainLetters = std::to_array<PlainLetters>({
    {"grep", "nilLcwvhHEFGPaIqozpWr"},
    {"log", "puszwbaRi"},
    {"show", "puszwbaRi"},
    {"diff", "puszwbaR"},
    {"ls-files", "cdomiszukt"},
    {"status", "sbz"},
});
// For every command that has these options.
constexpr auto kPlainOptions = std::to_array<std::string_view>(
    {"--abbrev-commit",   "--all",          "--cached",        "--color",       "--exclude-standard",
     "--extended-regexp", "--first-parent", "--fixed-strings", "--follow",      "--full-history",
     "--full-name",       "--graph",        "--ignore-case",   "--line-number", "--merges",
     "--name-only",       "--name-status",  "--no-color",      "--no-index",    "--no-merges",
     "--no-patch",        "--no-renames",   "--numstat",       "--oneline",     "--others",
     "--patch",           "--porcelain",    "--quiet",         "--raw",         "--reverse",
     "--shortstat",       "--staged",       "--stat",          "--summary",     "--untracked",
     "--word-regexp"});

std::string_view letters_of(std::string_view command) {
  const auto* const found = std::ranges::find(kPlainLetters, command, &PlainLetters::command);
  return found == kPlainLetters.end() ? std::string_view() : found->letters;
}

bool takes_next_word(std::string_view command, std::string_view word) {
  const auto* const found = std::ranges::find(kTakesNextWord, command, &TakesNextWord::command);
  if (found == kTakesNextWord.end()) return false;
  for (std::string_view rest = found->options; !rest.empty();) {
    const std::string_view option = rest.substr(0, rest.find(' '));
    if (word == option) return true;
    rest.remove_prefix(std::min(option.size() + 1, rest.size()));
  }
  // "grep -ine PATTERN"
  return command == "grep" && word.size() > 2 && !is_long(word) && word.ends_with('e') &&
         word.substr(1, word.size() - 2).find_first_not_of(letters_of(command)) == std::string_view::npos;
}

// True when "--" after this word can only end the options.
bool takes_nothing(std::string_view command, std::string_view word) {
  if (!is_option(word)) return true;
  if (is_long(word)) {
    return split_long(word).has_value || std::ranges::find(kPlainOptions, word) != kPlainOptions.end();
  }
  return word.substr(1).find_first_not_of(letters_of(command)) == std::string_view::npos;
}

}  // namespace

std::vector<std::size_t> git_option_words(const GitCommand& command, Argv arguments) {
  std::vector<std::size_t> places;
  bool ends_here = true;  // a "--" would
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--" && ends_here) break;
    places.push_back(i);
    if (is_option(word) && takes_next_word(command.name, word)) {
      ++i;
      ends_here = true;
    } else {
      ends_here = takes_nothing(command.name, word);
    }
  }
  return places;
}

}  // namespace sallyport::hardening
