// A policy file: another closed set, in TOML (docs/policy.md). Anything that we do not understand is an error with its
// position.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.h"
#include "core/policy/builtin_allowlist.h"
#include "core/policy/entry_rules.h"
#include "core/policy/toml_subset.h"
#include "core/text/did_you_mean.h"
#include "core/text/utf8.h"
#include "sallyport/allowlist.h"

namespace sallyport {
namespace {

constexpr std::string_view kSchema = "sallyport.policy/1";
constexpr std::array<std::string_view, 3> kTopKeys = {"schema", "audit", "tool"};
constexpr std::array<std::string_view, 8> kToolKeys = {"name",         "decision_record", "reason", "role",
                                                       "install_hint", "hardening",       "sha256", "allow_hosts"};

class PolicyReader {
 public:
  explicit PolicyReader(std::string_view file) : file_(file) {}

  Result<std::vector<ToolEntry>> read(const toml::Document& document) const {
    const toml::Table& root = document.root;
    if (const toml::Pair* const tool = root.find("tool")) {
      return fail(error_at(tool->value.place, "'tool' must be an array of tables", "write [[tool]]"));
    }
    TRY(check_keys(root, kTopKeys));
    const toml::Pair* const schema = root.find("schema");
    if (schema == nullptr) return fail(error_at(root.place, "the key 'schema' is missing", schema_hint()));
    if (TRY(text(schema->value, "schema")) != kSchema) {
      return fail(error_at(schema->value.place, "unknown schema", schema_hint()));
    }
    std::vector<ToolEntry> entries;  // a file without tools is a closed set of nothing
    for (const toml::Table& table : document.tables) {
      if (table.name != "tool") {
        return fail(error_at(table.place, fmt::format("unknown key '{}'", table.name), "write [[tool]]"));
      }
      ToolEntry entry = TRY(read_tool(table));
      if (std::ranges::find(entries, entry.name, &ToolEntry::name) != entries.end()) {
        return fail(error_at(table.find("name")->value.place, fmt::format("the tool '{}' is listed twice", entry.name),
                             "keep one of the two"));
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  // `audit = "required"`: every call under this policy must be recorded.
  [[nodiscard]] Result<AuditNeed> read_audit(const toml::Document& document) const {
    const toml::Pair* const pair = document.root.find("audit");
    if (pair == nullptr) return AuditNeed::kOptional;
    const std::string value = TRY(text(pair->value, "audit"));
    if (value == "required") return AuditNeed::kRequired;
    if (value == "optional") return AuditNeed::kOptional;
    return fail(
        error_at(pair->value.place, fmt::format("unknown value '{}'", value), "use \"required\" or \"optional\""));
  }

  [[nodiscard]] Error syntax_error(const toml::Problem& problem) const {
    return error_at(problem.place, problem.why, "see docs/policy.md for the shape of a policy file");
  }

 private:
  static std::string schema_hint() { return fmt::format("begin the file with: schema = \"{}\"", kSchema); }

  [[nodiscard]] Error error_at(toml::Place place, std::string_view why, std::string_view hint) const {
    return policy_error(file_, place.line, place.column, why, hint);
  }

  Status check_keys(const toml::Table& table, std::span<const std::string_view> known) const {
    for (const toml::Pair& pair : table.pairs) {
      if (std::ranges::find(known, pair.key) != known.end()) continue;
      const std::string suggestion = did_you_mean(pair.key, known);
      return fail(error_at(pair.place, fmt::format("unknown key '{}'", pair.key),
                           suggestion.empty() ? fmt::format("known keys: {}", fmt::join(known, ", ")) : suggestion));
    }
    return {};
  }

  Result<std::string> text(const toml::Value& value, std::string_view key) const {
    const auto* const text = std::get_if<std::string>(&value.data);
    if (text == nullptr) {
      return fail(error_at(value.place, fmt::format("'{}' must be a string", key), "put it in quotes"));
    }
    return *text;
  }

  // Empty when the key is absent.
  Result<std::string> optional_text(const toml::Table& table, std::string_view key) const {
    const toml::Pair* const pair = table.find(key);
    if (pair == nullptr) return std::string();
    return text(pair->value, key);
  }

  Result<Role> read_role(const toml::Table& table) const {
    const std::string value = TRY(optional_text(table, "role"));
    if (value.empty() || value == "tool") return Role::kTool;
    if (value == "wrapper") return Role::kWrapper;
    return fail(error_at(table.find("role")->value.place, fmt::format("unknown role '{}'", value),
                         "use \"tool\" or \"wrapper\""));
  }

  // Reports the position of the rule's key, or of the table that lacks it.
  Status check_rules(const toml::Table& table, const ToolEntry& entry) const {
    const std::optional<EntryProblem> problem = entry_problem(entry);
    if (!problem) return {};
    const toml::Pair* const pair = table.find(problem->key);
    if (pair != nullptr) return fail(error_at(pair->value.place, problem->why, problem->hint));
    return fail(error_at(table.place, fmt::format("the key '{}' is missing", problem->key), problem->hint));
  }

  Result<std::vector<HostRule>> read_hosts(const toml::Table& table) const {
    std::vector<HostRule> hosts;
    const toml::Pair* const pair = table.find("allow_hosts");
    if (pair == nullptr) return hosts;
    const auto* const list = std::get_if<toml::Array>(&pair->value.data);
    if (list == nullptr)
      return fail(error_at(pair->value.place, "'allow_hosts' must be an array", "write [\"host.example\"]"));
    for (const toml::Value& item : *list) {
      Result<HostRule> host = parse_host_rule(TRY(text(item, "allow_hosts")));
      if (!host) return fail(error_at(item.place, host.error().message, host.error().hint));
      if (std::ranges::find(hosts, *host) != hosts.end()) {
        return fail(error_at(item.place, fmt::format("the host '{}' is listed twice", host_rule_text(*host)),
                             "keep one of the two"));
      }
      hosts.push_back(std::move(*host));
    }
    return hosts;
  }

  Result<ToolEntry> read_tool(const toml::Table& table) const {
    TRY(check_keys(table, kToolKeys));
    ToolEntry entry;
    entry.name = TRY(optional_text(table, "name"));
    entry.decision_record = TRY(optional_text(table, "decision_record"));
    entry.reason = TRY(optional_text(table, "reason"));
    entry.role = TRY(read_role(table));
    entry.install_hint = TRY(optional_text(table, "install_hint"));
    entry.hardening = builtin_hardening(entry.name).value_or(kNoHardening);
    if (table.find("hardening") != nullptr) entry.hardening = TRY(optional_text(table, "hardening"));
    if (table.find("sha256") != nullptr) entry.sha256 = TRY(optional_text(table, "sha256"));
    TRY(check_rules(table, entry));
    entry.allowed_hosts = TRY(read_hosts(table));
    return entry;
  }

  std::string_view file_;
};

Error not_utf8(std::string_view text, std::string_view file) {
  unsigned line = 1;
  unsigned column = 1;
  for (Utf8Char next = decode_utf8(text); next.length != 0; next = decode_utf8(text)) {
    text.remove_prefix(next.length);
    column = next.code_point == U'\n' ? 1 : column + 1;
    if (next.code_point == U'\n') ++line;
  }
  return policy_error(file, line, column, "not valid UTF-8", "save the file as UTF-8");
}

}  // namespace

Result<Allowlist> Allowlist::from_policy(std::string_view text, std::string_view file) {
  if (!is_valid_utf8(text)) return fail(not_utf8(text, file));
  const PolicyReader reader(file);
  const std::expected<toml::Document, toml::Problem> document = toml::parse(text);
  if (!document) return fail(reader.syntax_error(document.error()));
  std::vector<ToolEntry> entries = TRY(reader.read(*document));
  return Allowlist(std::move(entries), TRY(reader.read_audit(*document)));
}

}  // namespace sallyport
