#include <algorithm>
#include <array>
#include <vector>

#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

// First, so that no earlier option counts; no option can undo it.
constexpr std::array<std::string_view, 1> kRipgrepFixed = {"--no-config"};
constexpr std::string_view kShortsWithValue = "ABCEMTdefgjmrt";

struct RipgrepRefused {
  std::string_view option;
  std::string_view why;
};
// ripgrep accepts no abbreviations, so exact names are enough ("--pretty" is not "--pre").
constexpr auto kRipgrepRefused = std::to_array<RipgrepRefused>({
    RipgrepRefused{"--pre", "it starts a program for every file"},
    RipgrepRefused{"--hostname-bin", "it starts a program"},
    RipgrepRefused{"--search-zip", "it starts decompressors found by PATH"},
});

// Long options without a value, of ripgrep 13 to 15. After one of them "--" can only end the options.
constexpr auto kPlain = std::to_array<std::string_view>({"--auto-hybrid-regex",
                                                         "--binary",
                                                         "--block-buffered",
                                                         "--byte-offset",
                                                         "--case-sensitive",
                                                         "--column",
                                                         "--count",
                                                         "--count-matches",
                                                         "--crlf",
                                                         "--debug",
                                                         "--files",
                                                         "--files-with-matches",
                                                         "--files-without-match",
                                                         "--fixed-strings",
                                                         "--follow",
                                                         "--glob-case-insensitive",
                                                         "--heading",
                                                         "--hidden",
                                                         "--ignore-case",
                                                         "--include-zero",
                                                         "--invert-match",
                                                         "--json",
                                                         "--line-buffered",
                                                         "--line-number",
                                                         "--line-regexp",
                                                         "--max-columns-preview",
                                                         "--mmap",
                                                         "--multiline",
                                                         "--multiline-dotall",
                                                         "--no-config",
                                                         "--no-filename",
                                                         "--no-heading",
                                                         "--no-ignore",
                                                         "--no-ignore-dot",
                                                         "--no-ignore-exclude",
                                                         "--no-ignore-files",
                                                         "--no-ignore-global",
                                                         "--no-ignore-parent",
                                                         "--no-ignore-vcs",
                                                         "--no-line-number",
                                                         "--no-messages",
                                                         "--no-mmap",
                                                         "--no-require-git",
                                                         "--no-unicode",
                                                         "--null",
                                                         "--null-data",
                                                         "--one-file-system",
                                                         "--only-matching",
                                                         "--passthru",
                                                         "--pcre2",
                                                         "--pretty",
                                                         "--quiet",
                                                         "--smart-case",
                                                         "--stats",
                                                         "--text",
                                                         "--trim",
                                                         "--unrestricted",
                                                         "--vimgrep",
                                                         "--with-filename",
                                                         "--word-regexp"});

// The first letter of a cluster that takes a value, or none.
std::size_t valued_letter(std::string_view cluster) { return cluster.find_first_of(kShortsWithValue, 1); }

// Every ripgrep reads the word after these as a pattern, whatever it begins with.
bool takes_pattern(std::string_view word) {
  if (is_long(word)) return word == "--regexp";
  const std::size_t letter = valued_letter(word);
  return letter + 1 == word.size() && word[letter] == 'e';
}

bool takes_nothing_more(std::string_view word) {
  if (!is_option(word)) return true;
  if (is_long(word)) return split_long(word).has_value || std::ranges::find(kPlain, word) != kPlain.end();
  return valued_letter(word) + 1 != word.size();
}

// The words that ripgrep may read as options.
std::vector<std::string_view> option_words(Argv arguments) {
  std::vector<std::string_view> words;
  bool ends_here = true;  // a "--" would
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--" && ends_here) break;
    words.push_back(word);
    const bool pattern_follows = is_option(word) && takes_pattern(word);
    if (pattern_follows) ++i;
    ends_here = pattern_follows || takes_nothing_more(word);
  }
  return words;
}

Result<HardenedCommand> harden_ripgrep(Argv argv) {
  const Argv arguments = argv.subspan(1);
  for (const std::string_view argument : option_words(arguments)) {
    const std::string_view name = split_long(argument).name;
    for (const RipgrepRefused& refused : kRipgrepRefused) {
      if (name != refused.option) continue;
      return fail(refused_argument("rg", argument, refused.why, "leave it out; unpack or convert files beforehand"));
    }
    if (has_short(argument, 'z', kShortsWithValue)) {
      return fail(refused_argument("rg", argument, "-z starts decompressors found by PATH", "unpack files beforehand"));
    }
  }
  return HardenedCommand{.argv = insert_after(argv, 0, kRipgrepFixed), .env = {}};
}

std::vector<HardeningFact> ripgrep_facts() {
  std::vector<HardeningFact> facts = {
      {HardeningFact::Kind::kForced, kRipgrepFixed[0], "a configuration file could name a program (--pre)"},
      {HardeningFact::Kind::kRefused, "-z, also in a cluster", "it is --search-zip"},
  };
  for (const RipgrepRefused& refused : kRipgrepRefused) {
    facts.push_back({HardeningFact::Kind::kRefused, refused.option, refused.why});
  }
  return facts;
}

}  // namespace

extern constinit const HardeningRow kRipgrepHardening{
    .name = "rg", .harden = by_argv<harden_ripgrep>, .facts = ripgrep_facts};

}  // namespace sallyport::hardening
