// sallyport allowlist: the closed set in force, for people and for programs.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/policy/hardening.h"
#include "core/policy/ready_policies.h"
#include "core/role_name.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"
#include "gate/policy_file.h"

namespace sallyport::cli {
namespace {

enum class AllowlistAction { kList, kShow, kCheck, kInit };
struct AllowlistCommand {
  AllowlistAction action = AllowlistAction::kList;
  std::string tool{};                   // for kShow
  std::vector<std::string> policies{};  // for kInit: ready policies by name
  std::optional<std::filesystem::path> policy{};
  Format format = Format::kText;
};

constexpr std::array<std::string_view, 4> kActions = {"list", "show", "check", "init"};

std::string table_text(const Allowlist& allowlist) {
  std::size_t width = 4;
  for (const ToolEntry& entry : allowlist.entries()) width = std::max(width, entry.name.size());
  std::string text = fmt::format("{:<{}}  {:<8} {:<9} {}\n", "NAME", width, "ROLE", "RECORD", "REASON");
  for (const ToolEntry& entry : allowlist.entries()) {
    text += fmt::format("{:<{}}  {:<8} {:<9} {}\n", printable(entry.name), width, role_name(entry.role),
                        printable(entry.decision_record), printable(entry.reason));
  }
  return text;
}

void add_words(std::string_view title, const std::vector<std::string>& words, std::string& text) {
  if (words.empty()) return;
  constexpr std::size_t kWidth = 100;
  std::string line = fmt::format("{:<11}", title);
  for (const std::string& word : words) {
    if (line.size() + word.size() + 2 > kWidth) {
      text += line + "\n";
      line = fmt::format("{:<11}", "");
    }
    line += fmt::format(" {}{}", word, &word == &words.back() ? "" : ",");
  }
  text += line + "\n";
}

// The allowed words for the tool; empty when everything that is not refused above is allowed.
std::string admitted_text(const ToolEntry& entry) {
  const hardening::AdmittedWords words = admitted_words(entry);
  std::string text;
  add_words("commands", words.commands, text);
  add_words("options", words.options, text);
  return text;
}

std::string show_text(const ToolEntry& entry) {
  std::string text;
  const auto row = [&](std::string_view key, std::string_view value) {
    text += fmt::format("{:<9} {}\n", key, printable(value));
  };
  row("name", entry.name);
  row("role", role_name(entry.role));
  row("record", entry.decision_record);
  row("reason", entry.reason);
  row("install", entry.install_hint);
  row("need", entry.need == Need::kMandatory ? "mandatory" : "optional");
  if (entry.sha256) row("sha256", *entry.sha256);
  for (const HostRule& rule : entry.allowed_hosts) row("host", host_rule_text(rule));
  for (const hardening::HardeningFact& fact : hardening_facts(entry)) {
    text += fmt::format("{:<11} {}: {}\n", hardening::kind_name(fact.kind), fact.what, fact.why);
  }
  return text + admitted_text(entry);
}

Json facts_of(const ToolEntry& entry) {
  Json facts = Json::array();
  for (const hardening::HardeningFact& fact : hardening_facts(entry)) {
    facts.push_back({{"kind", hardening::kind_name(fact.kind)}, {"what", fact.what}, {"why", fact.why}});
  }
  return facts;
}

Error not_in_set(std::string_view tool, const Allowlist& allowlist) {
  std::vector<std::string_view> names;
  for (const ToolEntry& entry : allowlist.entries()) names.push_back(entry.name);
  std::string hint = did_you_mean(tool, names);
  if (hint.empty()) hint = "sallyport allowlist list shows the closed set";
  return disallowed_subprocess(tool, "not in the closed allowlist", hint);
}

int show(const AllowlistCommand& command, const Allowlist& allowlist) {
  const ToolEntry* const entry = allowlist.find(command.tool);
  if (entry == nullptr) return report(not_in_set(command.tool, allowlist), command.format);
  if (command.format == Format::kText) return print_text(show_text(*entry), kExitOk);
  // The digest is that of the whole set that contains this entry.
  Json record = allowlist_record(allowlist);
  Json tool = json_of(*entry);
  tool["facts"] = facts_of(*entry);
  const hardening::AdmittedWords words = admitted_words(*entry);
  tool["commands"] = words.commands;
  tool["options"] = words.options;
  record["tools"] = Json::array({std::move(tool)});
  return print_record(record, kExitOk);
}

std::string check_text(const AllowlistCommand& command, const Allowlist& allowlist) {
  const std::size_t count = allowlist.entries().size();
  return fmt::format("{}: ok, {} tool{}, digest {}\n", printable(command.policy->native()), count,
                     count == 1 ? "" : "s", policy_digest(allowlist));
}

int print_allowlist(const AllowlistCommand& command) {
  if (command.action == AllowlistAction::kInit) {
    const Result<std::string> text = make_policy_text(command.policies);
    return text ? print_text(*text, kExitOk) : report(text.error(), command.format);
  }
  const Result<Allowlist> allowlist = load_allowlist(command.policy);
  if (!allowlist) return report(allowlist.error(), command.format);
  if (command.action == AllowlistAction::kShow) return show(command, *allowlist);
  if (command.format == Format::kJson) return print_record(allowlist_record(*allowlist), kExitOk);
  const bool is_check = command.action == AllowlistAction::kCheck;
  return print_text(is_check ? check_text(command, *allowlist) : table_text(*allowlist), kExitOk);
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
  } else if (action == "init") {
    command.action = AllowlistAction::kInit;
    command.policies.assign(words.begin() + 1, words.end());
    expected = words.size();
  } else if (action != "list") {
    return fail(unknown_word("allowlist action", action, kActions));
  }
  if (words.size() > expected) return fail(superfluous_word(words[expected]));
  return {};
}

Result<std::optional<AllowlistCommand>> parse_allowlist_words(Args args, Format& format) {
  OptionWalker walker(args, kAllowlistOptions, format);
  AllowlistCommand command;
  std::vector<std::string_view> words;
  while (true) {
    const Token token = TRY(walker.next());
    if (token.kind == Token::Kind::kEnd) break;
    if (token.kind == Token::Kind::kHelp) return std::nullopt;
    if (token.kind == Token::Kind::kOperand) words.push_back(token.value);
    if (token.kind == Token::Kind::kOption) TRY(kAllowlistOptions[token.index].apply(command, token.value));
  }
  TRY(take_action(command, words));
  return command;
}

Result<Action> parse_allowlist(Args args, Format& format) {
  std::optional<AllowlistCommand> command = TRY(parse_allowlist_words(args, format));
  if (!command) return Action();
  return [command = *std::move(command)](const Environment&) { return print_allowlist(command); };
}

constexpr std::string_view kAllowlistPage =
    R"(usage: sallyport allowlist [list | show NAME | check | init SET...]
                           [--policy FILE] [--json]
The closed set of tools that can be run, and who decided that.

  list           every entry (the default)
  show NAME      one entry: what it always gets, what may be said to it
  init SET...    print a policy of ready sets: cpp go java node python rust
                 shell; keep it, and name it with --policy
  check          parse the --policy file; errors carry line and column
  --policy FILE  the set in FILE instead of the built-in one
  --json         one record: {"schema":"sallyport.allowlist/1","tools":[...]}

exit codes: 0, or 125 for a wrong policy or an unknown name

examples:
  sallyport allowlist list
  sallyport allowlist show rg --json
  sallyport allowlist check --policy tools.toml
  sallyport allowlist init node python > policy.toml
)";

}  // namespace

extern constinit const Verb kAllowlistVerb{.name = "allowlist",
                                           .summary = "the closed set of tools that can be run",
                                           .page = kAllowlistPage,
                                           .parse = parse_allowlist};

}  // namespace sallyport::cli
