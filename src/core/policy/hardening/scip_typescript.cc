// scip-typescript (read at 0.4): it writes index.scip below --cwd, and asks the package manager for workspaces.
#include <array>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 1> kScipTypescriptCommands = {"index"};
constexpr std::string_view kRunsManager =
    "it starts yarn or pnpm, which run what the repo names (.yarnrc.yml, .pnpmfile.cjs)";
constexpr std::string_view kInfers = "it writes a tsconfig.json wherever the repo's project references point";

constexpr auto kScipTypescriptOptions = std::to_array<KnownOption>({
    {"--yarn-workspaces", 0, Takes::kNothing, Treat::kRefuse, kRunsManager},
    {"--yarn-berry-workspaces", 0, Takes::kNothing, Treat::kRefuse, kRunsManager},
    {"--pnpm-workspaces", 0, Takes::kNothing, Treat::kRefuse, kRunsManager},
    {"--cwd", 0, Takes::kValue},
    {"--output", 0, Takes::kValue},
    {"--infer-tsconfig"},
    {"--progress-bar"},
    {"--no-progress-bar"},
    {"--no-global-caches"},
    {"--max-file-byte-size", 0, Takes::kValue},
    {"--help", 'h'},
});
constexpr CommandLine kScipTypescriptLine{.tool = "scip-typescript", .options = kScipTypescriptOptions};

std::string place_below(std::string_view directory, std::string_view path) {
  if (path.starts_with('/') || directory.empty()) return std::string(path);
  return std::string(directory) + "/" + std::string(path);
}

FileRule output(std::string path, std::string_view what) {
  return {.kind = FileRule::Kind::kOutput,
          .path = std::move(path),
          .what = "scip-typescript " + std::string(what),
          .hint = "remove what stands there, or name another file: --output FILE"};
}

Result<HardenedCommand> harden_scip_typescript(Argv argv) {
  const Argv arguments = argv.subspan(1);
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = {}};
  if (arguments.empty() || asks_about_itself(arguments)) return out;
  TRY(check_command_name("scip-typescript", arguments.front(), kScipTypescriptCommands));
  const ReadArguments read = TRY(read_arguments(kScipTypescriptLine, arguments.subspan(1)));
  const std::string_view cwd = read.value_of("--cwd");
  out.files.push_back(output(place_below(cwd, read.value_of("--output", "index.scip")), "index"));
  if (!read.has("--infer-tsconfig")) return out;
  out.needs_jail = std::string(kInfers);
  if (read.operands.empty()) out.files.push_back(output(place_below(cwd, "tsconfig.json"), "--infer-tsconfig"));
  for (const std::string_view project : read.operands) {
    out.files.push_back(output(std::string(project) + "/tsconfig.json", "--infer-tsconfig"));
  }
  return out;
}

std::vector<HardeningFact> scip_typescript_facts() {
  std::vector<HardeningFact> facts = {
      {HardeningFact::Kind::kNeutralised, "index.scip, or --output FILE",
       "a symlink planted there would lead the write elsewhere"},
      {HardeningFact::Kind::kRefused, "--infer-tsconfig without a jail", kInfers},
      {HardeningFact::Kind::kRefused, "commands other than index", "none is needed"},
  };
  add_facts(facts, kScipTypescriptOptions);
  return facts;
}

AdmittedWords scip_typescript_admitted() { return admitted_of(kScipTypescriptOptions, kScipTypescriptCommands); }

}  // namespace

extern constinit const HardeningRow kScipTypescriptHardening{.name = "scip-typescript",
                                                             .harden = by_argv<harden_scip_typescript>,
                                                             .facts = scip_typescript_facts,
                                                             .admitted = scip_typescript_admitted};

}  // namespace sallyport::hardening
