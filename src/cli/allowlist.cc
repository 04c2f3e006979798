// sallyport allowlist: the closed set in force, for people and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/policy_file.h"
#include "cli/verbs.h"
#include "core/errors.h"
#include "core/json/json.h"
#include "core/policy/hardening.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"

namespace sallyport::cli {
namespace {

std::string_view role_name(Role role) { return role == Role::kTool ? "tool" : "wrapper"; }

std::string list_text(const Allowlist& allowlist) {
  std::size_t width = 4;
  for (const ToolEntry& entry : allowlist.entries()) width = std::max(width, entry.name.size());
  std::string text = fmt::format("{:<{}}  {:<8} {:<9} {}\n", "NAME", width, "ROLE", "RECORD", "REASON");
  for (const ToolEntry& entry : allowlist.entries()) {
    text += fmt::format("{:<{}}  {:<8} {:<9} {}\n", printable(entry.name), width, role_name(entry.role),
                        printable(entry.decision_record), printable(entry.reason));
  }
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
  for (const hardening::HardeningFact& fact : hardening_facts(entry.hardening)) {
    text += fmt::format("{:<11} {}: {}\n", hardening::kind_name(fact.kind), fact.what, fact.why);
  }
  return text;
}

Json facts_of(const ToolEntry& entry) {
  Json facts = Json::array();
  for (const hardening::HardeningFact& fact : hardening_facts(entry.hardening)) {
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
  // The digest is that of the whole set: it says where this entry stands.
  Json record = allowlist_record(allowlist);
  Json tool = json_of(*entry);
  tool["facts"] = facts_of(*entry);
  record["tools"] = Json::array({std::move(tool)});
  return print_record(record, kExitOk);
}

std::string check_text(const AllowlistCommand& command, const Allowlist& allowlist) {
  const std::size_t count = allowlist.entries().size();
  return fmt::format("{}: ok, {} tool{}, digest {}\n", printable(command.policy->native()), count,
                     count == 1 ? "" : "s", policy_digest(allowlist));
}

}  // namespace

int allowlist_verb(const AllowlistCommand& command) {
  const Result<Allowlist> allowlist = load_allowlist(command.policy);
  if (!allowlist) return report(allowlist.error(), command.format);
  if (command.action == AllowlistAction::kShow) return show(command, *allowlist);
  if (command.format == Format::kJson) return print_record(allowlist_record(*allowlist), kExitOk);
  const bool is_check = command.action == AllowlistAction::kCheck;
  return print_text(is_check ? check_text(command, *allowlist) : list_text(*allowlist), kExitOk);
}

}  // namespace sallyport::cli
