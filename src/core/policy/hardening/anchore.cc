// syft and grype (read at 1.4x and 0.9x): both use one command line library, find configuration in the same way, and
// catalog Go modules by starting `go`, which starts git for a version stamp. Both read .NAME.yaml and .NAME/config.yaml
// in cwd. They reject -c /dev/null (the file needs an extension), so we refuse a repo that has such files.
#include <fmt/format.h>

#include <array>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::string_view kConfig = "a configuration steers or blinds the scan; one in the repo is refused";
constexpr std::string_view kTemplate = "it is a program over the report; one in the repo is refused";
constexpr std::string_view kAnchoreReport = "a symlink planted there would lead the write elsewhere";
constexpr std::string_view kFrom = "it can name a daemon, a registry or an image";
constexpr std::string_view kVex = "it suppresses findings; one in the repo is refused";

constexpr auto kSyftOptions = std::to_array<KnownOption>({
    {"--config", 'c', Takes::kValue, Treat::kObey, kConfig},
    {"--template", 't', Takes::kValue, Treat::kObey, kTemplate},
    {"--file", 0, Takes::kValue, Treat::kOutput, kAnchoreReport},
    {"--from", 0, Takes::kValue, Treat::kRefuse, kFrom},
    {"--profile", 0, Takes::kValue, Treat::kRefuse, "it picks another part of a configuration"},
    {"--output", 'o', Takes::kValue},
    {"--scope", 's', Takes::kValue},
    {"--platform", 0, Takes::kValue},
    {"--exclude", 0, Takes::kValue},
    {"--parallelism", 0, Takes::kValue},
    {"--enrich", 0, Takes::kValue},
    {"--source-name", 0, Takes::kValue},
    {"--source-version", 0, Takes::kValue},
    {"--source-supplier", 0, Takes::kValue},
    {"--base-path", 0, Takes::kValue},
    {"--select-catalogers", 0, Takes::kValue},
    {"--override-default-catalogers", 0, Takes::kValue},
    {"--quiet", 'q'},
    {"--verbose", 'v'},
    {"--help", 'h'},
});

constexpr auto kGrypeOptions = std::to_array<KnownOption>({
    {"--config", 'c', Takes::kValue, Treat::kObey, kConfig},
    {"--template", 't', Takes::kValue, Treat::kObey, kTemplate},
    {"--vex", 0, Takes::kValue, Treat::kObey, kVex},
    {"--file", 0, Takes::kValue, Treat::kOutput, kAnchoreReport},
    {"--from", 0, Takes::kValue, Treat::kRefuse, kFrom},
    {"--profile", 0, Takes::kValue, Treat::kRefuse, "it picks another part of a configuration"},
    {"--output", 'o', Takes::kValue},
    {"--scope", 's', Takes::kValue},
    {"--platform", 0, Takes::kValue},
    {"--exclude", 0, Takes::kValue},
    {"--name", 0, Takes::kValue},
    {"--distro", 0, Takes::kValue},
    {"--add-cpes-if-none"},
    {"--fail-on", 'f', Takes::kValue},
    {"--only-fixed"},
    {"--only-notfixed"},
    {"--ignore-states", 0, Takes::kValue},
    {"--by-cve"},
    {"--show-suppressed"},
    {"--sort-by", 0, Takes::kValue},
    {"--quiet", 'q'},
    {"--verbose", 'v'},
    {"--help", 'h'},
});

struct Pin {
  std::string_view name;
  std::string_view value;
  std::string_view shown;
  std::string_view why;
};
constexpr std::string_view kGo = "syft starts the Go tools over the repo's modules";
constexpr std::string_view kOnline = "it would ask a server about the repo's packages";
// The environment overrides a configuration file.
constexpr auto kSyftPins = std::to_array<Pin>({
    {"SYFT_CHECK_FOR_APP_UPDATE", "false", "SYFT_CHECK_FOR_APP_UPDATE=false", "it would ask a server at every start"},
    {"SYFT_GOLANG_USE_PACKAGES_LIB", "false", "SYFT_GOLANG_USE_PACKAGES_LIB=false", kGo},
    {"SYFT_GOLANG_SEARCH_REMOTE_LICENSES", "false", "SYFT_GOLANG_SEARCH_REMOTE_LICENSES=false", kOnline},
    {"SYFT_JAVA_USE_NETWORK", "false", "SYFT_JAVA_USE_NETWORK=false", kOnline},
    {"SYFT_JAVASCRIPT_SEARCH_REMOTE_LICENSES", "false", "SYFT_JAVASCRIPT_SEARCH_REMOTE_LICENSES=false", kOnline},
    {"SYFT_PYTHON_SEARCH_REMOTE_LICENSES", "false", "SYFT_PYTHON_SEARCH_REMOTE_LICENSES=false", kOnline},
});
constexpr auto kGrypePins = std::to_array<Pin>({
    {"GRYPE_CHECK_FOR_APP_UPDATE", "false", "GRYPE_CHECK_FOR_APP_UPDATE=false", "it would ask a server at every start"},
});
// grype cannot switch the Go tools off, so these variables keep them from fetching, compiling and starting git.
constexpr auto kGoPins = std::to_array<Pin>({
    {"CGO_ENABLED", "0", "CGO_ENABLED=0", "the Go tools would start a C compiler with the repo's flags"},
    {"GOENV", "off", "GOENV=off", "a file of settings could name programs"},
    {"GOFLAGS", "-buildvcs=false", "GOFLAGS=-buildvcs=false", "the Go tools would start git in the repo"},
    {"GOPROXY", "off", "GOPROXY=off", "the Go tools would fetch what go.mod names"},
    {"GOTOOLCHAIN", "local", "GOTOOLCHAIN=local", "go.mod can name another toolchain, to be fetched and run"},
    {"GOWORK", "off", "GOWORK=off", "a go.work file can name modules outside the repo"},
});

struct Scanner {
  CommandLine line;
  std::span<const Pin> pins;
  std::string_view config_files;  // in cwd
  std::string_view scan_command;  // may come first
  std::span<const std::string_view> schemes;
};
constexpr std::array<std::string_view, 2> kSyftSchemes = {"dir:", "file:"};
constexpr std::array<std::string_view, 3> kGrypeSchemes = {"dir:", "file:", "sbom:"};
constexpr Scanner kSyft{{.tool = "syft", .options = kSyftOptions}, kSyftPins, ".syft*", "scan", kSyftSchemes};
constexpr Scanner kGrype{{.tool = "grype", .options = kGrypeOptions}, kGrypePins, ".grype*", {}, kGrypeSchemes};

// Without such a scheme a name is a command, or an image that would be pulled when no file has that name.
bool is_local_source(std::string_view operand, std::span<const std::string_view> schemes) {
  if (operand == "." || operand == "..") return true;
  if (operand.starts_with("./") || operand.starts_with("../") || operand.starts_with('/')) return true;
  return std::ranges::any_of(schemes, [&](std::string_view scheme) { return operand.starts_with(scheme); });
}

// "-o spdx-json=FILE,table": every part may name a file.
void add_report_files(const Scanner& scanner, std::string_view value, std::vector<FileRule>& files) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const LongOption part = split_long(value.substr(0, comma));
    if (part.has_value) {
      files.push_back({.kind = FileRule::Kind::kOutput,
                       .path = std::string(part.value),
                       .what = fmt::format("{} --output", scanner.line.tool),
                       .hint = "write to a new file in the repo, or remove what stands there"});
    }
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

// Both expand a leading ~ and split configuration names at commas; we check the path as written.
Status check_spelling(const Scanner& scanner, const std::vector<FileRule>& files) {
  for (const FileRule& rule : files) {
    if (!rule.path.starts_with('~') && rule.path.find(',') == std::string::npos) continue;
    return fail(
        refused_argument(scanner.line.tool, rule.path, "~ and commas mean more than one path", "write one whole path"));
  }
  return {};
}

void add_pins(std::span<const Pin> pins, std::vector<EnvVar>& env) {
  for (const Pin& pin : pins) env.push_back({.name = std::string(pin.name), .value = std::string(pin.value)});
}

Result<HardenedCommand> harden_scanner(const Scanner& scanner, Argv argv) {
  Argv arguments = argv.subspan(1);
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = git_env_for_children()};
  add_pins(scanner.pins, out.env);
  add_pins(kGoPins, out.env);
  if (asks_about_itself(arguments) || (arguments.size() == 1 && arguments.front() == "version")) return out;
  const bool named = !arguments.empty() && !scanner.scan_command.empty() && arguments.front() == scanner.scan_command;
  const ReadArguments read = TRY(read_arguments(scanner.line, arguments.subspan(named ? 1 : 0)));
  for (const std::string_view operand : read.operands) {
    if (is_local_source(operand, scanner.schemes)) continue;
    return fail(refused_argument(scanner.line.tool, operand, "not a path: a command, or an image to be fetched",
                                 "write the directory as ./NAME or dir:NAME"));
  }
  out.files = file_rules(scanner.line, read);
  for (const GivenOption& given : read.options) {
    if (given.option->name == "--output") add_report_files(scanner, given.value, out.files);
  }
  TRY(check_spelling(scanner, out.files));
  if (read.has("--enrich")) out.needs_host = fmt::format("--enrich {}", read.value_of("--enrich"));
  if (!read.has("--config")) {
    out.files.push_back({.kind = FileRule::Kind::kAbsent,
                         .path = std::string(scanner.config_files),
                         .what = fmt::format("{} configuration", scanner.line.tool),
                         .hint = "name your own configuration outside the repo: --config FILE.yaml"});
  }
  return out;
}

std::vector<HardeningFact> facts_of(const Scanner& scanner) {
  using Kind = HardeningFact::Kind;
  std::vector<HardeningFact> facts;
  for (const std::span<const Pin> pins : {scanner.pins, std::span<const Pin>(kGoPins)}) {
    for (const Pin& pin : pins) facts.push_back({Kind::kForced, pin.shown, pin.why});
  }
  facts.push_back({Kind::kForced, "git's variables (see git)", "the Go tools start git"});
  facts.push_back({Kind::kRefused, scanner.config_files,
                   "in cwd, unless the caller names a configuration: the repo would steer or blind the scan"});
  facts.push_back({Kind::kRefused, "sources that are no path", "an image would be fetched; a command would run"});
  facts.push_back({Kind::kNeutralised, "--output FORMAT=FILE", kAnchoreReport});
  add_facts(facts, scanner.line.options);
  return facts;
}

Result<HardenedCommand> harden_syft(Argv argv) { return harden_scanner(kSyft, argv); }
Result<HardenedCommand> harden_grype(Argv argv) { return harden_scanner(kGrype, argv); }
std::vector<HardeningFact> syft_facts() { return facts_of(kSyft); }
std::vector<HardeningFact> grype_facts() { return facts_of(kGrype); }

AdmittedWords syft_admitted() {
  constexpr std::array<std::string_view, 1> kCommands = {"scan"};
  return admitted_of(kSyftOptions, kCommands);
}

AdmittedWords grype_admitted() { return admitted_of(kGrypeOptions); }

}  // namespace

extern constinit const HardeningRow kSyftHardening{.name = "syft",
                                                   .harden = by_argv<harden_syft>,
                                                   .facts = syft_facts,
                                                   .git_question = of_a_tool_that_starts_git,
                                                   .admitted = syft_admitted};
extern constinit const HardeningRow kGrypeHardening{.name = "grype",
                                                    .harden = by_argv<harden_grype>,
                                                    .facts = grype_facts,
                                                    .git_question = of_a_tool_that_starts_git,
                                                    .admitted = grype_admitted};

}  // namespace sallyport::hardening
