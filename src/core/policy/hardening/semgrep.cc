// semgrep (read at 1.93): two parsers share one command line, and one of them completes abbreviations, so we accept
// only whole names. Rules must come from files; semgrep fetches rules that are given by name or address.
#include <algorithm>
#include <array>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 2> kSemgrepFixed = {"--metrics=off", "--disable-version-check"};
constexpr std::string_view kScan = "scan";
// Without one of these as its first argument semgrep scans. All but scan are refused.
constexpr auto kOtherCommands =
    std::to_array<std::string_view>({"ci", "install-ci", "install-semgrep-pro", "interactive", "login", "logout", "lsp",
                                     "mcp", "publish", "show", "test", "validate"});
constexpr std::string_view kRuleCode = "it lets rules run code";
constexpr std::string_view kBuilds = "it runs the repo's build or package manager";
constexpr std::string_view kSends = "it sends data to a server";
constexpr std::string_view kSemgrepReport = "a symlink planted there would lead the write elsewhere";

constexpr auto kSemgrepOptions = std::to_array<KnownOption>({
    {"--dangerously-allow-arbitrary-code-execution-from-rules", 0, Takes::kNothing, Treat::kRefuse, kRuleCode},
    {"--allow-untrusted-validators", 0, Takes::kNothing, Treat::kRefuse, kRuleCode},
    {"--allow-local-builds", 0, Takes::kNothing, Treat::kRefuse, kBuilds},
    {"--allow-dynamic-dependency-resolution", 0, Takes::kNothing, Treat::kRefuse, kBuilds},
    {"--enable-version-check", 0, Takes::kNothing, Treat::kRefuse, kSends},
    {"--trace", 0, Takes::kNothing, Treat::kRefuse, kSends},
    {"--trace-endpoint", 0, Takes::kValue, Treat::kRefuse, kSends},
    {"--remote", 0, Takes::kValue, Treat::kRefuse, "it clones another repo"},
    {"--validate", 0, Takes::kNothing, Treat::kRefuse, "it fetches rules about rules"},
    {"--test", 0, Takes::kNothing, Treat::kRefuse, "it rewrites files beside the rules"},
    {"--output", 'o', Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--text-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--json-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--sarif-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--junit-xml-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--gitlab-sast-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--gitlab-secrets-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--emacs-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--vim-output", 0, Takes::kValue, Treat::kOutput, kSemgrepReport},
    {"--config", 'c', Takes::kValue},
    {"--config", 'f', Takes::kValue},
    {"--metrics", 0, Takes::kValue},
    {"--disable-version-check"},
    {"--pattern", 'e', Takes::kValue},
    {"--lang", 'l', Takes::kValue},
    {"--replacement", 0, Takes::kValue},
    {"--autofix", 'a'},
    {"--no-autofix"},
    {"--dryrun"},
    {"--no-dryrun"},
    {"--baseline-commit", 0, Takes::kValue},
    {"--diff-depth", 0, Takes::kValue},
    {"--exclude", 0, Takes::kValue},
    {"--exclude-rule", 0, Takes::kValue},
    {"--include", 0, Takes::kValue},
    {"--max-target-bytes", 0, Takes::kValue},
    {"--use-git-ignore"},
    {"--no-git-ignore"},
    {"--scan-unknown-extensions"},
    {"--skip-unknown-extensions"},
    {"--jobs", 'j', Takes::kValue},
    {"--max-memory", 0, Takes::kValue},
    {"--optimizations", 0, Takes::kValue},
    {"--timeout", 0, Takes::kValue},
    {"--timeout-threshold", 0, Takes::kValue},
    {"--interfile-timeout", 0, Takes::kValue},
    {"--enable-nosem"},
    {"--disable-nosem"},
    {"--force-color"},
    {"--no-force-color"},
    {"--max-chars-per-line", 0, Takes::kValue},
    {"--max-lines-per-finding", 0, Takes::kValue},
    {"--max-log-list-entries", 0, Takes::kValue},
    {"--dataflow-traces"},
    {"--rewrite-rule-ids"},
    {"--no-rewrite-rule-ids"},
    {"--time"},
    {"--no-time"},
    {"--no-trace"},
    {"--matching-explanations"},
    {"--quiet", 'q'},
    {"--verbose", 'v'},
    {"--debug"},
    {"--text"},
    {"--emacs"},
    {"--json"},
    {"--gitlab-sast"},
    {"--gitlab-secrets"},
    {"--junit-xml"},
    {"--sarif"},
    {"--vim"},
    {"--oss-only"},
    {"--no-secrets-validation"},
    {"--severity", 0, Takes::kValue},
    {"--error"},
    {"--no-error"},
    {"--strict"},
    {"--no-strict"},
    {"--exclude-minified-files"},
    {"--no-exclude-minified-files"},
    {"--project-root", 0, Takes::kValue},
    {"--version"},
    {"--help", 'h'},
});
constexpr CommandLine kSemgrepLine{.tool = "semgrep", .options = kSemgrepOptions};

constexpr std::array<std::string_view, 6> kNamesOfRules = {"auto", "policy", "r2c", "code", "secrets", "supply-chain"};

// semgrep treats anything else as a file; see ConfigLoader in its config_resolver.py.
bool is_fetched(std::string_view config) {
  if (config.find("://") != std::string_view::npos) return true;
  if (config.starts_with("p/") || config.starts_with("r/") || config.starts_with("s/")) return true;
  return std::ranges::find(kNamesOfRules, config) != kNamesOfRules.end();
}

Status check_given(const ReadArguments& read, HardenedCommand& out) {
  for (const GivenOption& given : read.options) {
    if (given.option->name == "--metrics" && given.value != "off") {
      return fail(refused_argument("semgrep", "--metrics", "metrics are always off", "leave it out"));
    }
    if (given.option->treat == Treat::kOutput && given.value.find("://") != std::string_view::npos) {
      return fail(refused_argument("semgrep", given.value, "it sends the findings there", "name a file"));
    }
    if (given.option->name == "--config" && is_fetched(given.value)) out.needs_host = std::string(given.value);
  }
  if (!read.has("--autofix")) return {};
  for (const std::string_view operand : read.operands) {
    out.files.push_back({.kind = FileRule::Kind::kRewritten,
                         .path = std::string(operand),
                         .what = "semgrep --autofix",
                         .hint = "name the file itself"});
  }
  return {};
}

Result<HardenedCommand> harden_semgrep(Argv argv) {
  const Argv arguments = argv.subspan(1);
  const std::string_view first = arguments.empty() ? std::string_view() : std::string_view(arguments.front());
  if (std::ranges::find(kOtherCommands, first) != kOtherCommands.end()) {
    return fail(refused_argument("semgrep", first, "not a command for untrusted code",
                                 "use scan; a directory of that name is ./" + std::string(first)));
  }
  const std::size_t commands = first == kScan ? 1 : 0;
  const ReadArguments read = TRY(read_arguments(kSemgrepLine, arguments.subspan(commands)));
  HardenedCommand out{.argv = insert_after(argv, commands, kSemgrepFixed), .env = git_env_for_children()};
  out.env.push_back({.name = "SEMGREP_ENABLE_VERSION_CHECK", .value = "0"});
  out.env.push_back({.name = "SEMGREP_SEND_METRICS", .value = "off"});
  out.files = file_rules(kSemgrepLine, read);
  TRY(check_given(read, out));
  return out;
}

std::vector<HardeningFact> semgrep_facts() {
  using Kind = HardeningFact::Kind;
  std::vector<HardeningFact> facts = {
      {Kind::kForced, kSemgrepFixed[0], "it would send data about the repo"},
      {Kind::kForced, kSemgrepFixed[1], "it would ask a server at every start"},
      {Kind::kForced, "SEMGREP_SEND_METRICS=off, SEMGREP_ENABLE_VERSION_CHECK=0",
       "the same, for the part that reads variables"},
      {Kind::kForced, "git's variables (see git)", "semgrep starts git"},
      {Kind::kRefused, "commands other than scan", "they log in, publish, install, serve or fetch"},
      {Kind::kRefused, "--config of an address or a name (https:, p/, r/, s/, auto)",
       "it is fetched; allowed when the call allows a host"},
      {Kind::kRefused, "an address as --output", "the findings are sent there"},
      {Kind::kRefused, "abbreviated options", "one of semgrep's two parsers completes them"},
  };
  add_facts(facts, kSemgrepOptions);
  return facts;
}

AdmittedWords semgrep_admitted() {
  constexpr std::array<std::string_view, 1> kCommands = {"scan"};
  return admitted_of(kSemgrepOptions, kCommands);
}

}  // namespace

extern constinit const HardeningRow kSemgrepHardening{.name = "semgrep",
                                                      .harden = by_argv<harden_semgrep>,
                                                      .facts = semgrep_facts,
                                                      .git_question = of_a_tool_that_starts_git,
                                                      .admitted = semgrep_admitted};

}  // namespace sallyport::hardening
