// gitleaks (read at 8.30): it reads .gitleaks.toml from the scanned directory, .gitleaksignore from there and from cwd,
// and starts `git log -p` or `git diff` over the repo, which run the repo's textconv programs.
#include <algorithm>
#include <array>
#include <string>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 8> kGitleaksCommands = {"git",    "dir",   "directory", "file",
                                                               "detect", "stdin", "protect",   "version"};
// --max-archive-depth (8.27) came after GITLEAKS_CONFIG_TOML (8.25): a version without the variable, which would obey
// the repo's configuration, does not know the option either and exits.
constexpr std::array<std::string_view, 4> kGitleaksFixed = {
    "--no-banner", "--ignore-gitleaks-allow", "--gitleaks-ignore-path=/dev/null", "--max-archive-depth=0"};
constexpr std::string_view kDefaultRules = "[extend]\nuseDefault = true\n";
constexpr std::string_view kIgnoreFile = ".gitleaksignore";
// The options that gitleaks itself passes to git log when it gets none.
constexpr std::string_view kLogDefaults = "--full-history --all --diff-filter=tuxdb";
constexpr std::string_view kLogFixed = "--no-textconv --no-ext-diff";
constexpr std::string_view kDiffs =
    "git diff runs the repo's textconv programs, and gitleaks gives it no option against that";

constexpr auto kLogFlags =
    std::to_array<std::string_view>({"--all", "--branches", "--tags", "--remotes", "--first-parent", "--no-merges",
                                     "--full-history", "--reverse", "--"});
constexpr auto kLogValues = std::to_array<std::string_view>(
    {"--since", "--until", "--after", "--before", "--max-count", "--skip", "--diff-filter"});

constexpr auto kGitleaksOptions = std::to_array<KnownOption>({
    {"--config", 'c', Takes::kValue, Treat::kObey,
     "rules and allowlists blind the scan; those of the repo are refused"},
    {"--baseline-path", 'b', Takes::kValue, Treat::kObey, "it suppresses findings; one in the repo is refused"},
    {"--report-path", 'r', Takes::kValue, Treat::kOutput, "a symlink planted there would lead the write elsewhere"},
    {"--report-template", 0, Takes::kValue, Treat::kObey,
     "it is a program over the report; one in the repo is refused"},
    {"--diagnostics", 0, Takes::kValue, Treat::kRefuse, "it writes profiles or serves them"},
    {"--diagnostics-dir", 0, Takes::kValue, Treat::kRefuse, "it writes profiles or serves them"},
    {"--gitleaks-ignore-path", 'i', Takes::kValue},
    {"--log-opts", 0, Takes::kValue},
    {"--source", 's', Takes::kValue},
    {"--exit-code", 0, Takes::kValue},
    {"--report-format", 'f', Takes::kValue},
    {"--log-level", 'l', Takes::kValue},
    {"--verbose", 'v'},
    {"--no-color"},
    {"--no-banner"},
    {"--max-target-megabytes", 0, Takes::kValue},
    {"--ignore-gitleaks-allow"},
    {"--redact", 0, Takes::kMaybeValue},
    {"--enable-rule", 0, Takes::kValue},
    {"--max-decode-depth", 0, Takes::kValue},
    {"--max-archive-depth", 0, Takes::kValue},
    {"--timeout", 0, Takes::kValue},
    {"--platform", 0, Takes::kValue},
    {"--staged"},
    {"--pre-commit"},
    {"--no-git"},
    {"--pipe"},
    {"--follow-symlinks"},
    {"--help", 'h'},
});
constexpr CommandLine kGitleaksLine{.tool = "gitleaks", .options = kGitleaksOptions};

// gitleaks splits the value at blanks and gives the words to git.
Status check_log_words(std::string_view value) {
  while (!value.empty()) {
    const std::size_t blank = std::min(value.find(' '), value.size());
    const std::string_view word = value.substr(0, blank);
    value.remove_prefix(std::min(blank + 1, value.size()));
    const LongOption option = split_long(word);
    const bool known = std::ranges::find(kLogFlags, word) != kLogFlags.end() ||
                       (option.has_value && std::ranges::find(kLogValues, option.name) != kLogValues.end());
    if (!word.starts_with('-') || known) continue;
    return fail(refused_argument("gitleaks", word, "--log-opts may hold revisions and a few filters only",
                                 "e.g. --log-opts=main..topic"));
  }
  return {};
}

// gitleaks always reads the ignore file of the scanned directory. A caller that names that very file accepts it.
void add_ignore_rule(const ReadArguments& read, std::string_view source, std::vector<FileRule>& files) {
  const std::string in_source = std::string(source) + "/" + std::string(kIgnoreFile);
  const std::string_view accepted = read.value_of("--gitleaks-ignore-path");
  const bool same = accepted == in_source || accepted == source || (source == "." && accepted == kIgnoreFile);
  if (same && !accepted.empty()) return;
  files.push_back({.kind = FileRule::Kind::kAbsent,
                   .path = in_source,
                   .what = "gitleaks ignore file",
                   .hint = "remove it, or accept it by name: --gitleaks-ignore-path=" + in_source});
}

bool runs_git_log(std::string_view command, const ReadArguments& read) {
  return command == "git" || (command == "detect" && !read.has("--no-git") && !read.has("--pipe"));
}

Result<HardenedCommand> harden_gitleaks(Argv argv) {
  const Argv arguments = argv.subspan(1);
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = git_env_for_children()};
  if (arguments.empty() || asks_about_itself(arguments)) return out;
  const std::string_view command = arguments.front();
  TRY(check_command_name("gitleaks", command, kGitleaksCommands));
  if (command == "version") return out;
  if (std::ranges::find(arguments, "--") != arguments.end()) {
    return fail(refused_argument("gitleaks", "--", "options are added after yours", "leave it out"));
  }
  const ReadArguments read = TRY(read_arguments(kGitleaksLine, arguments.subspan(1)));
  out.argv = insert_after(argv, 1, kGitleaksFixed);
  out.files = file_rules(kGitleaksLine, read);
  if (!read.has("--config")) {
    out.env.push_back({.name = "GITLEAKS_CONFIG_TOML", .value = std::string(kDefaultRules)});
  }
  const std::string_view operand = read.operands.empty() ? std::string_view() : read.operands.front();
  add_ignore_rule(read, operand.empty() ? read.value_of("--source", ".") : operand, out.files);
  for (const GivenOption& given : read.options) {
    if (given.option->name == "--log-opts") TRY(check_log_words(given.value));
  }
  if (command == "protect" || read.has("--staged") || read.has("--pre-commit")) out.needs_jail = std::string(kDiffs);
  // The last one counts, and then gitleaks passes no other options to git log.
  if (runs_git_log(command, read)) {
    const std::string_view wanted = read.value_of("--log-opts", kLogDefaults);
    out.argv.push_back("--log-opts=" + std::string(kLogFixed) + " " + std::string(wanted));
  }
  return out;
}

std::vector<HardeningFact> gitleaks_facts() {
  using Kind = HardeningFact::Kind;
  std::vector<HardeningFact> facts = {
      {Kind::kForced, kGitleaksFixed[0], "a banner is no finding"},
      {Kind::kForced, kGitleaksFixed[1], "a comment in the repo would hide a secret"},
      {Kind::kForced, kGitleaksFixed[2], "an ignore file in cwd would hide secrets"},
      {Kind::kForced, kGitleaksFixed[3], "a gitleaks before 8.27 ends here: it would obey the repo's .gitleaks.toml"},
      {Kind::kForced, "GITLEAKS_CONFIG_TOML with the default rules", "it outranks the repo's .gitleaks.toml"},
      {Kind::kForced, "--log-opts=\"--no-textconv --no-ext-diff …\"", "git log would run programs the repo names"},
      {Kind::kForced, "git's variables (see git)", "gitleaks starts git"},
      {Kind::kNeutralised, ".gitleaks.toml", "it replaces the rules"},
      {Kind::kRefused, ".gitleaksignore in the scanned place",
       "it hides findings; accept it with --gitleaks-ignore-path"},
      {Kind::kRefused, "--log-opts with other than revisions",
       "git log takes options that write files and run programs"},
      {Kind::kRefused, "protect, --staged, --pre-commit without a jail", kDiffs},
  };
  add_facts(facts, kGitleaksOptions);
  return facts;
}

AdmittedWords gitleaks_admitted() { return admitted_of(kGitleaksOptions, kGitleaksCommands); }

}  // namespace

extern constinit const HardeningRow kGitleaksHardening{.name = "gitleaks",
                                                       .harden = by_argv<harden_gitleaks>,
                                                       .facts = gitleaks_facts,
                                                       .git_question = of_a_tool_that_starts_git,
                                                       .admitted = gitleaks_admitted};

}  // namespace sallyport::hardening
