#include "cli/command_line.h"

#include <fmt/format.h>

#include <vector>

#include "cli/help.h"
#include "cli/option_table.h"
#include "core/errors.h"
#include "core/text/did_you_mean.h"

namespace sallyport::cli {

Error unknown_word(std::string_view what, std::string_view word, std::span<const std::string_view> choice) {
  std::string hint = did_you_mean(word, choice);
  if (hint.empty()) hint = fmt::format("one of: {}", fmt::join(choice, ", "));
  return invalid_request(what, fmt::format("there is no '{}'", word), hint);
}

Error superfluous_word(std::string_view word) {
  return invalid_request("arguments", fmt::format("'{}' is one too many", word), "see --help");
}

Result<Action> parse_command_line(Args args, Format& format) {
  if (args.empty()) return fail(invalid_request("arguments", "no verb was given", "sallyport --help shows them"));
  std::string_view name = args[0];
  const Args rest = args.subspan(1);
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version" || name == "-V") return parse_version(rest, format);
  if (name.starts_with('-')) {
    read_format(rest, format);
    return fail(invalid_request("arguments", fmt::format("'{}' stands before the verb", name),
                                "the verb comes first: sallyport run [OPTIONS] -- TOOL ARGS"));
  }
  const Verb* const verb = find_verb(name);
  if (verb == nullptr) {
    read_format(rest, format);
    return fail(unknown_verb(name));
  }
  Action action = TRY(verb->parse(rest, format));
  if (!action) return show_page(verb->page);
  return action;
}

}  // namespace sallyport::cli
