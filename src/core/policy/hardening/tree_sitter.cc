// tree-sitter (read at 0.26): every command that parses compiles the grammar in cwd, or one that its configuration
// names, and loads the result. So the repo's code runs, and only a jail contains it.
#include <array>

#include "core/policy/hardening/closed_options.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/options.h"

namespace sallyport::hardening {
namespace {

constexpr std::array<std::string_view, 5> kTreeSitterCommands = {"parse", "query", "highlight", "tags",
                                                                 "dump-languages"};
constexpr std::string_view kTreeSitterRunsCode = "it compiles and loads the parser that it finds in the repo";
constexpr std::string_view kLog = "it writes log.html and starts a program to draw graphs";

constexpr auto kTreeSitterOptions = std::to_array<KnownOption>({
    {"--config-path", 0, Takes::kValue, Treat::kObey, "it names directories of parsers; one in the repo is refused"},
    {"--debug-graph", 'D', Takes::kNothing, Treat::kRefuse, kLog},
    {"--dot", 0, Takes::kNothing, Treat::kRefuse, kLog},
    {"--open-log", 0, Takes::kNothing, Treat::kRefuse, "it starts a browser"},
    {"--paths", 0, Takes::kValue},
    {"--grammar-path", 'p', Takes::kValue},
    {"--lib-path", 'l', Takes::kValue},
    {"--lang-name", 0, Takes::kValue},
    {"--scope", 0, Takes::kValue},
    {"--debug-build", '0'},
    {"--wasm"},
    {"--xml", 'x'},
    {"--cst", 'c'},
    {"--captures"},
    {"--stat", 's'},
    {"--timeout", 0, Takes::kValue},
    {"--time", 't'},
    {"--quiet", 'q'},
    {"--encoding", 0, Takes::kValue},
    {"--json"},
    {"--json-summary", 'j'},
    {"--test-number", 'n', Takes::kValue},
    {"--rebuild", 'r'},
    {"--no-ranges"},
    {"--byte-range", 0, Takes::kValue},
    {"--row-range", 0, Takes::kValue},
    {"--containing-byte-range", 0, Takes::kValue},
    {"--containing-row-range", 0, Takes::kValue},
    {"--test"},
    {"--html", 'H'},
    {"--css-classes"},
    {"--layout", 0, Takes::kValue},
    {"--style", 0, Takes::kValue},
    {"--check"},
    {"--captures-path", 0, Takes::kValue},
    {"--help", 'h'},
});
constexpr CommandLine kTreeSitterLine{.tool = "tree-sitter", .options = kTreeSitterOptions};

Result<HardenedCommand> harden_tree_sitter(Argv argv) {
  const Argv arguments = argv.subspan(1);
  HardenedCommand out{.argv = {argv.begin(), argv.end()}, .env = {}};
  if (arguments.empty() || asks_about_itself(arguments)) return out;
  TRY(check_command_name("tree-sitter", arguments.front(), kTreeSitterCommands));
  const ReadArguments read = TRY(read_arguments(kTreeSitterLine, arguments.subspan(1)));
  out.files = file_rules(kTreeSitterLine, read);
  out.needs_jail = std::string(kTreeSitterRunsCode);
  return out;
}

std::vector<HardeningFact> tree_sitter_facts() {
  std::vector<HardeningFact> facts = {
      {HardeningFact::Kind::kRefused, "every command without a jail", kTreeSitterRunsCode},
      {HardeningFact::Kind::kRefused, "commands other than parse, query, highlight, tags, dump-languages",
       "generate runs grammar.js, build and test write, playground serves, init starts git"},
  };
  add_facts(facts, kTreeSitterOptions);
  return facts;
}

AdmittedWords tree_sitter_admitted() { return admitted_of(kTreeSitterOptions, kTreeSitterCommands); }

}  // namespace

extern constinit const HardeningRow kTreeSitterHardening{.name = "tree-sitter",
                                                         .harden = by_argv<harden_tree_sitter>,
                                                         .facts = tree_sitter_facts,
                                                         .admitted = tree_sitter_admitted};

}  // namespace sallyport::hardening
