#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/policy/hardening/facts.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/npm_commands.h"
#include "core/policy/hardening/npm_environment.h"
#include "core/policy/hardening/npm_keys.h"
#include "core/policy/hardening/npm_packages.h"
#include "core/policy/hardening/options.h"
#include "core/text/did_you_mean.h"

namespace sallyport::hardening {
namespace {

// On the command line and in the environment (C25): the command line overrides every .npmrc, the environment reaches
// the npm that npm itself starts.
constexpr std::array<std::string_view, 1> kNpmFixed = {"--ignore-scripts"};

constexpr std::string_view kNpmRunsCode = "it runs the repo's scripts with your rights";
// npm writes these in place, so through a symlink; below node_modules npm replaces files instead.
constexpr auto kOutputs = std::to_array<std::string_view>({"package.json", "package-lock.json", "npm-shrinkwrap.json"});
constexpr std::string_view kTarballs = "*.tgz";

// Before the command only words that cannot have a value: otherwise npm would take the command as the value, and the
// next word as the command ("npm --tag test exec -- ./evil").
constexpr auto kBeforeCommand = std::to_array<std::string_view>({"--ignore-scripts",
                                                                 "--silent",
                                                                 "-s",
                                                                 "--quiet",
                                                                 "-q",
                                                                 "--verbose",
                                                                 "-d",
                                                                 "-dd",
                                                                 "-ddd",
                                                                 "--json",
                                                                 "--long",
                                                                 "-l",
                                                                 "--offline",
                                                                 "--prefer-offline",
                                                                 "--no-audit",
                                                                 "--no-fund",
                                                                 "--no-color",
                                                                 "--no-progress",
                                                                 "--no-update-notifier",
                                                                 "--version",
                                                                 "-v",
                                                                 "--versions",
                                                                 "--help",
                                                                 "-h"});
constexpr auto kValuedFirst = std::to_array<std::string_view>({"--registry", "--loglevel", "--replace-registry-host"});
// Options as separate words: npm always takes the next word as their value.
constexpr auto kLogLevels =
    std::to_array<std::string_view>({"silent", "error", "warn", "notice", "http", "info", "verbose", "silly"});
constexpr auto kPrefixes = std::to_array<std::string_view>({"--prefix", "-C"});

// npm's shorthands for an option with its value. npm combines letters ("-glp"), so single dashes are a closed list too.
constexpr auto kShorthands = std::to_array<std::string_view>(
    {"--silent", "--quiet", "--verbose", "--desc", "--help", "--no", "--porcelain", "--readonly", "--iwr", "--ws",
     "-a",       "-d",      "-dd",       "-ddd",   "-f",     "-h",   "-l",          "-n",         "-p",    "-q",
     "-s",       "-v",      "-ws",       "-y",     "-B",     "-D",   "-E",          "-O",         "-P",    "-S"});
constexpr std::string_view kWorkspace = "-w";

bool is_in_list(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The directory that --prefix names, where npm then acts. npm expands "~/" and "${NAME}", and reads some words as an
// unset value.
Status check_prefix(std::string_view word, std::string_view directory) {
  constexpr auto kNoValue = std::to_array<std::string_view>({"", "true", "false", "null", "undefined"});
  if (!is_in_list(kNoValue, directory) && !directory.starts_with('-') && !directory.starts_with('~') &&
      directory.find("${") == std::string_view::npos) {
    return {};
  }
  return fail(refused_argument("npm", word, "it names no directory of the repo", "write npm --prefix=DIRECTORY …"));
}

const NpmPin* find_pin(std::string_view key) {
  for (const std::span<const NpmPin> pins : {npm_pins(), npm_layout_pins()}) {
    const auto pin = std::ranges::find(pins, key, &NpmPin::key);
    if (pin != pins.end()) return &*pin;
  }
  return nullptr;
}

enum class Consumes { kNothing, kOwnValue, kNextWord };

// Reads the arguments after the command as npm's parser (nopt) does.
class Arguments {
 public:
  explicit Arguments(Argv words) : words_(words) {}

  Status check(const NpmCommand& command) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (is_end_of_options(word)) {
        for (const std::string& rest : words_.subspan(i + 1)) positionals_.push_back(rest);
        break;
      }
      if (!is_option(word)) {
        positionals_.push_back(word);
        continue;
      }
      const Consumes takes = TRY(check_option(word, i + 1 < words_.size() ? std::string_view(words_[i + 1]) : ""));
      // Check a word that looks like an option as an option, even if it is a value.
      if (takes == Consumes::kNextWord && i + 1 < words_.size() && !is_option(words_[i + 1])) ++i;
    }
    if (command.takes_packages) {
      for (const std::string_view package : positionals_) TRY(check_npm_package(package, sources_));
    }
    const std::string_view verb = positionals_.empty() ? std::string_view() : positionals_.front();
    if (takes_verb(command, verb)) return {};
    return fail(refused_argument(fmt::format("npm {}", command.name), verb.empty() ? command.name : verb,
                                 "it may only read here",
                                 command.verbs == "-" ? fmt::format("write npm {} alone", command.name)
                                                      : fmt::format("one of: {}", command.verbs)));
  }

  [[nodiscard]] const NpmSources& sources() const { return sources_; }
  // The directory where npm acts; empty: the working directory.
  [[nodiscard]] std::string_view prefix() const { return prefix_; }

 private:
  // nopt: two dashes or more.
  static bool is_end_of_options(std::string_view word) {
    return word.size() > 1 && word.find_first_not_of('-') == std::string_view::npos;
  }

  static std::unexpected<Error> refuse(std::string_view word, std::string_view why,
                                       std::string_view hint = "leave it out") {
    return fail(refused_argument("npm", word, why, hint));
  }

  Result<Consumes> check_option(std::string_view word, std::string_view next) {
    if (word == kWorkspace) return Consumes::kNextWord;
    if (is_in_list(kPrefixes, split_long(word).name)) return take_prefix(word, next);
    if (is_in_list(kShorthands, word)) return Consumes::kNothing;
    if (!is_long(word)) return refuse(word, "not a short option known to be harmless", "write the long form");
    const LongOption option = split_long(word);
    // npm reads such a value as the next option.
    if (option.value.starts_with('-')) return refuse(word, "its value begins with a dash", "use another value");
    std::string_view key = option.name.substr(2);
    if (key.starts_with('@') && key.ends_with(":registry") && option.has_value) return Consumes::kOwnValue;
    const bool negated = key.starts_with("no-");
    if (negated) key.remove_prefix(3);
    if (key == "ignore-scripts") return check_scripts(word, next);
    if (const NpmPin* const pin = find_pin(key)) return check_pinned(*pin, word, option, negated);
    return check_harmless(key, word, option, negated);
  }

  Result<Consumes> take_prefix(std::string_view word, std::string_view next) {
    const LongOption option = split_long(word);
    prefix_ = option.has_value ? option.value : next;
    TRY(check_prefix(word, prefix_));
    return option.has_value ? Consumes::kOwnValue : Consumes::kNextWord;
  }

  static Result<Consumes> check_scripts(std::string_view word, std::string_view next) {
    // npm would read a following "false" as its value.
    const bool on = word == "--ignore-scripts=true" || (word == "--ignore-scripts" && next != "false");
    if (on) return Consumes::kNothing;
    return refuse(word, "install scripts are always off");
  }

  Result<Consumes> check_pinned(const NpmPin& pin, std::string_view word, const LongOption& option, bool negated) {
    if (!pin.caller_may) return refuse(word, fmt::format("{} {}", pin.key, pin.why));
    const bool is_flag = pin.value == "true" || pin.value == "false";
    if (is_flag) return check_flag(word, option);
    if (negated || !option.has_value || option.value.empty()) {
      return refuse(word, "it needs a value in the same word", fmt::format("write --{}=VALUE", pin.key));
    }
    const bool opens = option.value == "all" || option.value == "root";
    if (pin.key == "allow-git") sources_.git = opens;
    if (pin.key == "allow-remote") sources_.remote = opens;
    return Consumes::kOwnValue;
  }

  // "--json=exec" is the flag, and then the word "exec".
  static Result<Consumes> check_flag(std::string_view word, const LongOption& option) {
    if (!option.has_value || option.value == "true" || option.value == "false") return Consumes::kNothing;
    return refuse(word, "npm would take the value for an argument", "write it without a value");
  }

  Result<Consumes> check_harmless(std::string_view key, std::string_view word, const LongOption& option, bool negated) {
    if (is_in_list(npm_flag_keys(), key)) return check_flag(word, option);
    if (is_in_list(npm_unreachable_keys(), key)) return refuse(word, "no command that may run here reads it");
    const bool has_next = is_in_list(npm_valued_keys(), key);
    if (!has_next && !is_in_list(npm_one_word_keys(), key)) {
      const std::string suggestion = did_you_mean(key, npm_flag_keys());
      return refuse(word, "not an option known to be harmless",
                    suggestion.empty() ? "arguments for a script go behind --" : suggestion);
    }
    if (negated) return check_flag(word, option);
    if (key == "diff" && option.has_value) TRY(check_npm_package(option.value, sources_));
    return option.has_value ? Consumes::kOwnValue : has_next ? Consumes::kNextWord : Consumes::kNothing;
  }

  Argv words_;
  std::vector<std::string_view> positionals_;
  NpmSources sources_;
  std::string_view prefix_;
};

bool may_precede_the_command(std::string_view word) {
  const LongOption option = split_long(word);
  if (!option.has_value) return is_in_list(kBeforeCommand, word);
  return is_in_list(kValuedFirst, option.name) && !option.value.empty() && !option.value.starts_with('-');
}

struct Before {
  std::size_t command = 0;  // where it stands
  std::string_view prefix{};
};

Result<Before> read_before_command(Argv arguments) {
  Before before;
  std::size_t at = 0;
  for (; at < arguments.size() && is_option(arguments[at]); ++at) {
    const std::string_view word = arguments[at];
    const std::string_view next = at + 1 < arguments.size() ? std::string_view(arguments[at + 1]) : "";
    const LongOption option = split_long(word);
    if (is_in_list(kPrefixes, option.name)) {
      before.prefix = option.has_value ? option.value : next;
      TRY(check_prefix(word, before.prefix));
      if (!option.has_value) ++at;
    } else if (word == "--loglevel" && is_in_list(kLogLevels, next)) {
      ++at;
    } else if (!may_precede_the_command(word)) {
      return fail(refused_argument("npm", word, "not one of the options that may stand before the command",
                                   "put the command first, its options after it"));
    }
  }
  before.command = at;
  if (at >= arguments.size() || find_npm_command(arguments[at]) != nullptr) return before;
  const std::string suggestion = did_you_mean(arguments[at], npm_command_names());
  return fail(refused_argument("npm", arguments[at], "not one of the commands npm may run here",
                               suggestion.empty() ? "see what it may: docs/hardening.md on npm" : suggestion));
}

void add_output(std::string_view prefix, std::string_view path, std::vector<FileRule>& files) {
  files.push_back({.kind = FileRule::Kind::kOutput,
                   .path = prefix.empty() ? std::string(path) : fmt::format("{}/{}", prefix, path),
                   .what = "npm would write",
                   .hint = "remove it, or put a plain file in its place"});
}

// Notes what the command writes, and whether it runs the repo's scripts.
void add_deeds(const NpmCommand& command, std::string_view prefix, HardenedCommand& out) {
  if (command.runs_scripts) out.needs_jail = std::string(kNpmRunsCode);
  if (!prefix.empty()) {
    out.files.push_back({.kind = FileRule::Kind::kInsideRepo,
                         .path = std::string(prefix),
                         .what = "npm --prefix",
                         .hint = "name a directory inside the repo, or another repo with `repo`"});
  }
  if (command.name == "pack") add_output("", kTarballs, out.files);
  if (!command.writes) return;
  for (const std::string_view output : kOutputs) add_output(prefix, output, out.files);
}

Result<HardenedCommand> harden_npm(Argv argv) {
  const Argv words = argv.subspan(1);
  if (!words.empty() && (words.front() == "exec" || words.front() == "x")) return harden_npm_exec(argv, 2);
  const Before before = TRY(read_before_command(words));
  if (before.command >= words.size()) {
    return HardenedCommand{.argv = insert_after(argv, 0, kNpmFixed), .env = npm_env({})};
  }
  const NpmCommand& command = *find_npm_command(words[before.command]);
  Arguments arguments(words.subspan(before.command + 1));
  TRY(arguments.check(command));
  // Put it first, before any "--"; we accept no later spelling that could override it.
  HardenedCommand out{.argv = insert_after(argv, 0, kNpmFixed), .env = npm_env(arguments.sources())};
  // The last one counts.
  add_deeds(command, arguments.prefix().empty() ? before.prefix : arguments.prefix(), out);
  return out;
}

AdmittedWords npm_admitted() {
  AdmittedWords words;
  for (const std::string_view name : npm_command_names()) words.commands.emplace_back(name);
  words.commands.emplace_back("exec");
  words.options = {"--prefix", "-C"};
  for (const std::span<const std::string_view> keys : {npm_flag_keys(), npm_one_word_keys(), npm_valued_keys()}) {
    for (const std::string_view key : keys) words.options.push_back(fmt::format("--{}", key));
  }
  for (const std::span<const NpmPin> pins : {npm_pins(), npm_layout_pins()}) {
    for (const NpmPin& pin : pins) {
      if (pin.caller_may) words.options.push_back(fmt::format("--{}", pin.key));
    }
  }
  words.options.insert(words.options.end(), kShorthands.begin(), kShorthands.end());
  return words;
}

std::vector<HardeningFact> npm_facts() {
  using Kind = HardeningFact::Kind;
  std::vector<HardeningFact> facts = {
      {Kind::kForced, "--ignore-scripts", "install scripts of the project and its packages run otherwise"},
      {Kind::kForced, "fetch-retries=0 unless --fetch-retries=N is given",
       "npm waits a minute for a denied host otherwise"},
      {Kind::kForced, "--globalconfig=FILE", "npm lets a project's .npmrc choose the file otherwise"},
      {Kind::kForced, "--global-ignore-file=FILE (npm 12)", "npm lets a project's .npmrc choose the file otherwise"},
      {Kind::kRefused, "explore, edit, init, link, publish, version X, pkg set, config set and other commands",
       "they start programs, or act on an account, the prefix or the configuration"},
      {Kind::kRefused, "test, run, start and their kin without a jail", kNpmRunsCode},
      {Kind::kNeutralised, "package.json, package-lock.json, npm-shrinkwrap.json, *.tgz",
       "a symlink or hard link planted there would be written through"},
      {Kind::kRefused, "exec of a program that is not installed, or without a jail", "it would be fetched and run"},
      {Kind::kRefused, "--prefix, -C outside the repo", "npm would act elsewhere"},
      {Kind::kRefused, "values before the command, but --prefix, -C, --loglevel, --registry=, --replace-registry-host=",
       "npm takes the command for the value"},
      {Kind::kRefused, "options npm does not document, abbreviations, letters in clusters",
       "npm completes and combines them in surprising ways"},
      {Kind::kRefused, "--KEY=-VALUE and --FLAG=WORD", "npm reads the value as an option or an argument of its own"},
      {Kind::kRefused, "git URLs and user/repo without --allow-git", "the repo behind it is prepared by its own rules"},
      {Kind::kRefused, "URLs of tarballs without --allow-remote", "they come from any host"},
      {Kind::kRefused, "paths that leave the working directory", "files outside the repo are installed or packed"},
  };
  for (const std::span<const NpmPin> pins : {npm_pins(), npm_layout_pins()}) {
    for (const NpmPin& pin : pins) {
      facts.push_back({Kind::kNeutralised, pin.key, pin.why});
      if (!pin.caller_may && pin.key != "prefix") facts.push_back({Kind::kRefused, pin.key, pin.why});
    }
  }
  return facts;
}

}  // namespace

extern constinit const HardeningRow kNpmHardening{.name = "npm",
                                                  .harden = by_argv<harden_npm>,
                                                  .facts = npm_facts,
                                                  .git_question = of_a_tool_that_starts_git,
                                                  .admitted = npm_admitted,
                                                  .reads_npm_layout = true};

}  // namespace sallyport::hardening
