#include "cli/command_line.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "cli/call_options.h"
#include "cli/option_table.h"
#include "core/errors.h"
#include "core/text/did_you_mean.h"

namespace sallyport::cli {
namespace {

using Args = std::span<const std::string>;

constexpr std::array<std::string_view, 5> kVerbs = {"run", "explain", "doctor", "allowlist", "help"};
constexpr std::array<std::string_view, 3> kActions = {"list", "show", "check"};

Error unknown_word(std::string_view what, std::string_view word, std::span<const std::string_view> choice) {
  std::string hint = did_you_mean(word, choice);
  if (hint.empty()) hint = fmt::format("one of: {}", fmt::join(choice, ", "));
  return invalid_request(what, fmt::format("there is no '{}'", word), hint);
}

Error superfluous(std::string_view word) {
  return invalid_request("arguments", fmt::format("'{}' is one too many", word), "see --help");
}

template <class CallCommand>
Result<Command> parse_call(Args args, HelpTopic topic) {
  std::optional<CallOptions> call = TRY(parse_call_options(args));
  if (!call) return HelpRequested{.topic = topic};
  return CallCommand{.call = *std::move(call)};
}

Status set_policy(AllowlistCommand& command, std::string_view value) {
  command.policy = std::filesystem::path(value);
  return {};
}

Status set_json(AllowlistCommand& command, std::string_view /*value*/) {
  command.format = Format::kJson;
  return {};
}

constexpr auto kAllowlistOptions = std::to_array<Option<AllowlistCommand>>(
    {{{"--policy", Arity::kValue}, set_policy}, {{"--json", Arity::kFlag}, set_json}});

Status take_action(AllowlistCommand& command, std::span<const std::string_view> words) {
  if (words.empty()) return {};
  const std::string_view action = words[0];
  std::size_t expected = 1;
  if (action == "show") {
    command.action = AllowlistAction::kShow;
    if (words.size() < 2)
      return fail(invalid_request("arguments", "show needs a tool's name", "e.g. allowlist show git"));
    command.tool = words[1];
    expected = 2;
  } else if (action == "check") {
    command.action = AllowlistAction::kCheck;
    if (!command.policy) {
      return fail(invalid_request("arguments", "check needs a policy file", "allowlist check --policy FILE"));
    }
  } else if (action != "list") {
    return fail(unknown_word("allowlist action", action, kActions));
  }
  if (words.size() > expected) return fail(superfluous(words[expected]));
  return {};
}

Result<Command> parse_allowlist(Args args) {
  OptionWalker walker(args, kAllowlistOptions);
  AllowlistCommand command;
  std::vector<std::string_view> words;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) break;
    if (token.kind == Token::Kind::kHelp) return HelpRequested{.topic = HelpTopic::kAllowlist};
    if (token.kind == Token::Kind::kOperand) {
      words.push_back(token.value);
      walker.take_operand();
    }
    if (token.kind == Token::Kind::kOption) TRY(kAllowlistOptions[token.index].apply(command, token.value));
  }
  TRY(take_action(command, words));
  return command;
}

Status set_attack(DoctorCommand& command, std::string_view /*value*/) {
  command.action = DoctorAction::kAttack;
  return {};
}

Status set_doctor_jail(DoctorCommand& command, std::string_view value) {
  command.jail = TRY(jail_named(value));
  return {};
}

Status set_only(DoctorCommand& command, std::string_view value) {
  command.only = value;
  return {};
}

Status set_doctor_json(DoctorCommand& command, std::string_view /*value*/) {
  command.format = Format::kJson;
  return {};
}

constexpr auto kDoctorOptions = std::to_array<Option<DoctorCommand>>({{{"--attack", Arity::kFlag}, set_attack},
                                                                      {{"--jail", Arity::kValue}, set_doctor_jail},
                                                                      {{"--only", Arity::kValue}, set_only},
                                                                      {{"--json", Arity::kFlag}, set_doctor_json}});

Result<Command> parse_doctor(Args args) {
  OptionWalker walker(args, kDoctorOptions);
  DoctorCommand command;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) return command;
    if (token.kind == Token::Kind::kHelp) return HelpRequested{.topic = HelpTopic::kDoctor};
    if (token.kind == Token::Kind::kOperand) return fail(superfluous(token.value));
    if (token.kind == Token::Kind::kOption) TRY(kDoctorOptions[token.index].apply(command, token.value));
  }
}

Result<Command> parse_help(Args args) {
  if (args.empty()) return HelpRequested{};
  if (args.size() > 1) return fail(superfluous(args[1]));
  const std::string_view verb = args[0];
  if (verb == "run") return HelpRequested{.topic = HelpTopic::kRun};
  if (verb == "explain") return HelpRequested{.topic = HelpTopic::kExplain};
  if (verb == "doctor") return HelpRequested{.topic = HelpTopic::kDoctor};
  if (verb == "allowlist") return HelpRequested{.topic = HelpTopic::kAllowlist};
  if (verb == "help" || verb == "--help" || verb == "-h") return HelpRequested{};
  return fail(unknown_word("verb", verb, kVerbs));
}

Result<Command> parse_version(Args args) {
  if (args.empty()) return VersionRequested{};
  if (args[0] == "--json" && args.size() == 1) return VersionRequested{.format = Format::kJson};
  return fail(superfluous(args[0]));
}

}  // namespace

Result<Command> parse_command_line(Args args) {
  if (args.empty()) return fail(invalid_request("arguments", "no verb was given", "sallyport --help shows them"));
  const std::string_view verb = args[0];
  const Args rest = args.subspan(1);
  if (verb == "run") return parse_call<RunCommand>(rest, HelpTopic::kRun);
  if (verb == "explain") return parse_call<ExplainCommand>(rest, HelpTopic::kExplain);
  if (verb == "doctor") return parse_doctor(rest);
  if (verb == "allowlist") return parse_allowlist(rest);
  if (verb == "help" || verb == "--help" || verb == "-h") return parse_help(rest);
  if (verb == "--version" || verb == "-V") return parse_version(rest);
  if (verb.starts_with('-')) {
    return fail(invalid_request("arguments", fmt::format("'{}' stands before the verb", verb),
                                "the verb comes first: sallyport run [OPTIONS] -- TOOL ARGS"));
  }
  return fail(unknown_word("verb", verb, kVerbs));
}

Format requested_format(Args args) {
  if (args.empty()) return Format::kText;
  if (args[0] == "run" || args[0] == "explain") return call_format(args.subspan(1));
  for (const std::string& word : args) {
    if (word == "--json") return Format::kJson;
  }
  return Format::kText;
}

}  // namespace sallyport::cli
