// sallyport help and --version. Each page fits one screen, 24 lines of 80 columns; a test holds it to that.
#include "cli/help.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/option_table.h"

namespace sallyport::cli {
namespace {

constexpr std::string_view kBeforeVerbs = R"(usage: sallyport VERB [OPTIONS]
The one gate through which programs start other programs over untrusted code.

)";

constexpr std::string_view kAfterVerbs = R"(  --version  the version

Every verb takes --json: one record on stdout, its shape named by "schema".

exit codes of run: the tool's own, or
  124 timed out          125 refused, set-up failed, or wrong usage
  126 not runnable       127 tool missing
  137 out of memory      128+n ended by signal n

examples: sallyport run -- git rev-parse HEAD; sallyport validate ../theirs
)";

int print_version(Format format) {
  if (format == Format::kText) return print_text(fmt::format("sallyport {}\n", SALLYPORT_VERSION), kExitOk);
  return print_record({{"schema", "sallyport.version/1"}, {"version", SALLYPORT_VERSION}}, kExitOk);
}

Result<Action> parse_help(Args args, Format& format) {
  read_format(args, format);
  if (args.empty()) return show_page({});
  if (args.size() > 1) return fail(superfluous_word(args[1]));
  if (args[0] == "help" || args[0] == "--help" || args[0] == "-h") return show_page({});
  const Verb* const verb = find_verb(args[0]);
  if (verb == nullptr) return fail(unknown_verb(args[0]));
  return show_page(verb->page);
}

}  // namespace

std::string overview() {
  std::string text(kBeforeVerbs);
  for (const Verb* const verb : verbs()) text += fmt::format("  {:<10} {}\n", verb->name, verb->summary);
  return text += kAfterVerbs;
}

// An empty page stands for the overview, which is made of all verbs.
Action show_page(std::string_view page) {
  return [page](const Environment&) { return print_text(page.empty() ? overview() : std::string(page), kExitOk); };
}

Result<Action> parse_version(Args args, Format& format) {
  read_format(args, format);
  if (args.empty()) return [](const Environment&) { return print_version(Format::kText); };
  if (args[0] != "--json" || args.size() > 1) return fail(superfluous_word(args[0]));
  return [](const Environment&) { return print_version(Format::kJson); };
}

Error unknown_verb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb* const verb : verbs()) names.push_back(verb->name);
  return unknown_word("verb", name, names);
}

extern constinit const Verb kHelpVerb{
    .name = "help", .summary = "help VERB: one screen on a verb (also: VERB --help)", .page = "", .parse = parse_help};

}  // namespace sallyport::cli
