// ast-grep (checked against 0.40 and 0.51): it looks for sgconfig.yml from its cwd upwards, and a configuration may name
// a shared library as a custom language, which it loads. Up to 0.50 it did so without being asked.
#include <array>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kDefaultCommand = "run";
constexpr std::array<std::string_view, 3> kAstGrepCommands = {kDefaultCommand, "scan", "test"};
constexpr std::array<std::string_view, 2> kNoConfig = {"-c", "/dev/null"};
constexpr std::string_view kObeyed = "a configuration may name a shared library to load; one in the repo is refused";

constexpr auto kAstGrepOptions = std::to_array<KnownOption>({
    {"--config", 'c', Takes::kValue, Treat::kObey, kObeyed},
    {"--custom-languages", 0, Takes::kValue, Treat::kRefuse, "it loads a shared library that a configuration names"},
    {"--interactive", 'i', Takes::kNothing, Treat::kRefuse, "it asks on a terminal and opens an editor"},
    {"--pattern", 'p', Takes::kValue},
    {"--selector", 0, Takes::kValue},
    {"--strictness", 0, Takes::kValue},
    {"--kind", 'k', Takes::kValue},
    {"--rewrite", 'r', Takes::kValue},  // -r is --rule for scan
    {"--rule", 0, Takes::kValue},
    {"--inline-rules", 0, Takes::kValue},
    {"--lang", 'l', Takes::kValue},
    {"--debug-query", 0, Takes::kMaybeValue},
    {"--follow"},
    {"--no-ignore", 0, Takes::kValue},
    {"--stdin"},
    {"--globs", 0, Takes::kValue},
    {"--threads", 'j', Takes::kValue},
    {"--update-all", 'U'},
    {"--files-with-matches"},
    {"--json", 0, Takes::kMaybeValue},
    {"--color", 0, Takes::kValue},
    {"--inspect", 0, Takes::kValue},
    {"--after", 'A', Takes::kValue},
    {"--before", 'B', Takes::kValue},
    {"--context", 'C', Takes::kValue},
    {"--heading", 0, Takes::kValue},
    {"--format", 0, Takes::kValue},
    {"--report-style", 0, Takes::kValue},
    {"--include-metadata"},
    {"--filter", 'f', Takes::kValue},
    {"--min-severity", 0, Takes::kValue},
    {"--max-results", 0, Takes::kValue},
    {"--error", 0, Takes::kMaybeValue},
    {"--warning", 0, Takes::kMaybeValue},
    {"--info", 0, Takes::kMaybeValue},
    {"--hint", 0, Takes::kMaybeValue},
    {"--off", 0, Takes::kMaybeValue},
    {"--test-dir", 't', Takes::kValue},
    {"--snapshot-dir", 0, Takes::kValue},
    {"--skip-snapshot-tests"},
    {"--include-off"},
    {"--help", 'h'},
});
constexpr CommandLine kAstGrepLine{.tool = "ast-grep", .options = kAstGrepOptions};

Status check_rewriting(std::string_view command, const ReadArguments& read, HardenedCommand& out) {
  if (!read.has("--update-all")) return {};
  if (command == "test") {
    return fail(refused_argument("ast-grep", "--update-all", "it rewrites the repo's snapshots", "leave it out"));
  }
  if (read.has("--follow")) {
    return fail(refused_argument("ast-grep", "--update-all", "with --follow it writes through symlinks",
                                 "leave one of the two out"));
  }
  for (const std::string_view operand : read.operands) {
    out.files.push_back({.kind = FileRule::Kind::kRewritten,
                         .path = std::string(operand),
                         .what = "ast-grep --update-all",
                         .hint = "name the file itself"});
  }
  return {};
}

Result<HardenedCommand> harden_ast_grep(Argv argv) {
  const Argv arguments = argv.subspan(1);
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = {}};
  if (arguments.empty() || asks_about_itself(arguments)) return out;
  const bool default_command = is_option(arguments.front());
  const std::string_view command = default_command ? kDefaultCommand : std::string_view(arguments.front());
  TRY(check_command_name("ast-grep", command, kAstGrepCommands));
  const ReadArguments read = TRY(read_arguments(kAstGrepLine, arguments.subspan(default_command ? 0 : 1)));
  out.files = file_rules(kAstGrepLine, read);
  TRY(check_rewriting(command, read, out));
  // Name the command, so that a version without a default command does the same.
  std::vector<std::string_view> fixed;
  if (default_command) fixed.push_back(kDefaultCommand);
  if (!read.has("--config")) fixed.insert(fixed.end(), kNoConfig.begin(), kNoConfig.end());
  out.argv = insert_after(argv, default_command ? 0 : 1, fixed);
  return out;
}

std::vector<HardeningFact> ast_grep_facts() {
  std::vector<HardeningFact> facts = {
      {HardeningFact::Kind::kForced, "-c /dev/null", "unless the caller names a configuration outside the repo"},
      {HardeningFact::Kind::kNeutralised, "sgconfig.yml",
       "it can load a shared library (customLanguages) and choose rules"},
      {HardeningFact::Kind::kRefused, "commands other than run, scan, test", "new and lsp write and serve"},
      {HardeningFact::Kind::kRefused, "--update-all with --follow, or of test", "it would write through symlinks"},
  };
  add_facts(facts, kAstGrepOptions);
  return facts;
}

AdmittedWords ast_grep_admitted() { return admitted_of(kAstGrepOptions, kAstGrepCommands); }

}  // namespace

extern constinit const HardeningRow kAstGrepHardening{
    .name = "ast-grep", .harden = by_argv<harden_ast_grep>, .facts = ast_grep_facts, .admitted = ast_grep_admitted};

}  // namespace sallyport::hardening
