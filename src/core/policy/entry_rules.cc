#include "core/policy/entry_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/bytes/sha256.h"
#include "core/policy/builtin_allowlist.h"
#include "core/policy/hardening/table.h"
#include "core/policy/jail_launchers.h"

namespace sallyport {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_alnum(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_tool_name_char(char c) { return is_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-'; }

// ^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$: never a path, never an option.
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_alnum(name.front()) &&
         std::ranges::all_of(name, is_tool_name_char);
}

std::optional<EntryProblem> blank_problem(std::string_view key, std::string_view value) {
  if (value.find_first_not_of(" \t\r\n") != std::string_view::npos) return std::nullopt;
  return EntryProblem{.key = key,
                      .why = fmt::format("'{}' is blank", key),
                      .hint = fmt::format("every tool says its {}; see docs/policy.md", key)};
}

std::optional<EntryProblem> hardening_problem(const ToolEntry& entry) {
  if (hardening::find_hardening(entry.hardening) == nullptr) {
    return EntryProblem{.key = "hardening",
                        .why = fmt::format("unknown hardening '{}'", entry.hardening),
                        .hint = fmt::format("one of {}", fmt::join(hardening::hardening_names(), ", "))};
  }
  // A built-in tool keeps its fixed hardening; others may get one.
  const std::optional<std::string_view> fixed = builtin_hardening(entry.name);
  if (!fixed || *fixed == kNoHardening || entry.hardening == *fixed) return std::nullopt;
  return EntryProblem{.key = "hardening",
                      .why = fmt::format("the hardening of '{}' cannot be changed", entry.name),
                      .hint = fmt::format("leave the key out; it is always \"{}\"", *fixed)};
}

}  // namespace

std::optional<EntryProblem> entry_problem(const ToolEntry& entry) {
  if (std::optional<EntryProblem> blank = blank_problem("name", entry.name)) return blank;
  if (!is_tool_name(entry.name)) {
    return EntryProblem{.key = "name",
                        .why = fmt::format("'{}' is not a tool name", entry.name),
                        .hint = "use the binary's bare name: letters, digits and . _ + -, at most 64, never a path"};
  }
  if (std::optional<EntryProblem> blank = blank_problem("decision_record", entry.decision_record)) return blank;
  if (std::optional<EntryProblem> blank = blank_problem("reason", entry.reason)) return blank;
  const bool is_wrapper = is_builtin_wrapper(entry.name) || find_jail_launcher(entry.name) != nullptr;
  if (entry.role == Role::kTool && is_wrapper) {
    return EntryProblem{.key = "name",
                        .why = fmt::format("'{}' can only be a wrapper", entry.name),
                        .hint = "write role = \"wrapper\": only a jail may start it"};
  }
  if (std::optional<EntryProblem> wrong = hardening_problem(entry)) return wrong;
  if (entry.sha256 && !is_sha256_hex(*entry.sha256)) {
    return EntryProblem{.key = "sha256",
                        .why = "'sha256' is not a digest",
                        .hint = "64 lower-case hex digits, as sha256sum prints them"};
  }
  return std::nullopt;
}

}  // namespace sallyport
