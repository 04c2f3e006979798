#include "sallyport/allowlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/errors.h"
#include "core/policy/builtin_allowlist.h"
#include "core/policy/entry_rules.h"
#include "core/policy/ready_policies.h"
#include "core/role_name.h"
#include "core/text/did_you_mean.h"

namespace sallyport {
namespace {

constexpr std::string_view kListHint = "see what may be started: `Allowlist::entries`";

// For a command that a shell would have split into words.
std::string quoting_hint(std::string_view typed) {
  return fmt::format("one word was given; give the tool and each argument as words of their own in `argv`: {}", typed);
}

std::string ready_policy_hint(std::string_view typed) {
  const std::vector<std::string_view> ready = ready_policies_with(typed);
  if (ready.empty()) return {};
  return fmt::format("the ready policy '{0}' has it: name a copy of policies/{0}.toml as `policy`", ready.front());
}

std::string unknown_tool_hint(std::span<const ToolEntry> entries, std::string_view typed) {
  if (typed.find_first_of(" \t\n") != std::string_view::npos) return quoting_hint(typed);
  if (std::string ready = ready_policy_hint(typed); !ready.empty()) return ready;
  // People type the package's name.
  if (typed == "ripgrep") typed = "rg";
  std::vector<std::string_view> names;
  for (const ToolEntry& entry : entries) {
    if (entry.role == Role::kTool) names.push_back(entry.name);
  }
  const std::string suggestion = std::ranges::find(names, typed) != names.end()
                                     ? fmt::format("did you mean '{}'?", typed)
                                     : did_you_mean(typed, names);
  return suggestion.empty() ? std::string(kListHint) : fmt::format("{} {}", suggestion, kListHint);
}

// Length first, so that no value can be read as the start of the next one: two different sets never have the same text.
void append_field(std::string& text, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(text), "{} {}:{}\n", name, value.size(), value);
}

}  // namespace

const Allowlist& Allowlist::builtin() {
  static const Allowlist set(builtin_entries());
  return set;
}

Result<Allowlist> Allowlist::of(std::vector<ToolEntry> entries, AuditNeed audit) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (const std::optional<EntryProblem> problem = entry_problem(*entry)) {
      return fail(invalid_request("allowlist", problem->why, problem->hint));
    }
    if (std::ranges::find(entries.begin(), entry, entry->name, &ToolEntry::name) != entry) {
      return fail(invalid_request("allowlist", fmt::format("the tool '{}' is listed twice", entry->name),
                                  "keep one of the two"));
    }
  }
  return Allowlist(std::move(entries), audit);
}

const ToolEntry* Allowlist::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &ToolEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<ToolEntry> Allowlist::admit(std::string_view argv0) const {
  if (argv0.empty())
    return fail(disallowed_subprocess(argv0, "no tool was named", "name a tool as the first word of `argv`"));
  const bool is_sentence = find(argv0.substr(0, argv0.find(' '))) != nullptr;
  if (argv0.find('/') != std::string_view::npos && !is_sentence) {
    const std::string_view base = argv0.substr(argv0.rfind('/') + 1);
    const ToolEntry* const meant = find(base);
    const bool startable = meant != nullptr && meant->role == Role::kTool;
    return fail(disallowed_subprocess(argv0, "a path is never accepted, only the bare name of an allowlisted tool",
                                      startable ? fmt::format("write '{}'", base) : std::string(kListHint)));
  }
  const ToolEntry* const entry = find(argv0);
  if (entry == nullptr) {
    return fail(disallowed_subprocess(argv0, "not in the allowlist", unknown_tool_hint(entries_, argv0)));
  }
  if (entry->role == Role::kWrapper) {
    return fail(disallowed_subprocess(argv0, "a wrapper, which only a jail may start",
                                      "name the tool itself; the gate wraps it in a jail"));
  }
  return *entry;
}

std::string Allowlist::canonical_text() const {
  std::vector<const ToolEntry*> sorted;
  for (const ToolEntry& entry : entries_) sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, &ToolEntry::name);

  std::string text = "sallyport.allowlist/1\n";
  if (audit_ == AuditNeed::kRequired) append_field(text, "audit", "required");
  for (const ToolEntry* entry : sorted) {
    append_field(text, "tool", entry->name);
    append_field(text, "decision_record", entry->decision_record);
    append_field(text, "reason", entry->reason);
    append_field(text, "role", role_name(entry->role));
    append_field(text, "hardening", entry->hardening);
    append_field(text, "sha256", entry->sha256.value_or(""));
    for (const HostRule& rule : entry->allowed_hosts) append_field(text, "allow_host", host_rule_text(rule));
  }
  return text;
}

}  // namespace sallyport
