// A policy file: another closed set, in TOML (docs/policy.md). Everything not understood is an error with its place.
#include <toml++/toml.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/sha256.h"
#include "core/errors.h"
#include "core/policy/ascii_armour.h"
#include "core/policy/builtin_allowlist.h"
#include "core/text/did_you_mean.h"
#include "core/text/utf8.h"
#include "sallyport/allowlist.h"

namespace sallyport {
namespace {

constexpr std::string_view kSchema = "sallyport.policy/1";
constexpr std::size_t kLongestName = 64;
constexpr std::array<std::string_view, 2> kTopKeys = {"schema", "tool"};
constexpr std::array<std::string_view, 8> kToolKeys = {"name",         "decision_record", "reason", "role",
                                                       "install_hint", "hardening",       "sha256", "allow_hosts"};

bool is_alnum(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_name_char(char c) { return is_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-'; }

// ^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$: never a path, never an option.
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_alnum(name.front()) &&
         std::ranges::all_of(name, is_name_char);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

class PolicyReader {
 public:
  PolicyReader(std::string_view file, const AsciiArmour& armour) : file_(file), armour_(armour) {}

  Result<std::vector<ToolEntry>> read(const toml::table& root) const {
    TRY(check_keys(root, kTopKeys));
    const toml::node* const schema = root.get("schema");
    if (schema == nullptr) return fail(error_at(root, "the key 'schema' is missing", schema_hint()));
    if (TRY(text(*schema, "schema")) != kSchema) return fail(error_at(*schema, "unknown schema", schema_hint()));

    std::vector<ToolEntry> entries;
    const toml::node* const tools = root.get("tool");
    if (tools == nullptr) return entries;  // a closed set of nothing
    const toml::array* const list = tools->as_array();
    if (list == nullptr) return fail(error_at(*tools, "'tool' must be an array of tables", "write [[tool]]"));
    for (const toml::node& node : *list) {
      const toml::table* const table = node.as_table();
      if (table == nullptr) return fail(error_at(node, "'tool' must be an array of tables", "write [[tool]]"));
      ToolEntry entry = TRY(read_tool(*table));
      if (std::ranges::find(entries, entry.name, &ToolEntry::name) != entries.end()) {
        return fail(error_at(*table->get("name"), fmt::format("the tool '{}' is listed twice", entry.name),
                             "keep one of the two"));
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  [[nodiscard]] Error syntax_error(const toml::parse_error& error) const {
    return error_at(error.source(), error.description(), "see docs/policy.md for the shape of a policy file");
  }

 private:
  static std::string schema_hint() { return fmt::format("begin the file with: schema = \"{}\"", kSchema); }

  [[nodiscard]] Error error_at(const toml::source_region& place, std::string_view why, std::string_view hint) const {
    return policy_error(file_, place.begin.line, armour_.original_column(place.begin.line, place.begin.column),
                        armour_.original(why), hint);
  }
  [[nodiscard]] Error error_at(const toml::node& node, std::string_view why, std::string_view hint) const {
    return error_at(node.source(), why, hint);
  }

  Status check_keys(const toml::table& table, std::span<const std::string_view> known) const {
    for (const auto& [key, value] : table) {
      if (std::ranges::find(known, key.str()) != known.end()) continue;
      const std::string suggestion = did_you_mean(key.str(), known);
      return fail(error_at(key.source(), fmt::format("unknown key '{}'", key.str()),
                           suggestion.empty() ? fmt::format("known keys: {}", fmt::join(known, ", ")) : suggestion));
    }
    return {};
  }

  Result<std::string> text(const toml::node& node, std::string_view key) const {
    const toml::value<std::string>* const value = node.as_string();
    if (value == nullptr) return fail(error_at(node, fmt::format("'{}' must be a string", key), "put it in quotes"));
    return armour_.original(value->get());
  }

  // Empty when the key is absent.
  Result<std::string> optional_text(const toml::table& table, std::string_view key) const {
    const toml::node* const node = table.get(key);
    if (node == nullptr) return std::string();
    return text(*node, key);
  }

  Result<std::string> mandatory_text(const toml::table& table, std::string_view key) const {
    const toml::node* const node = table.get(key);
    const std::string hint = fmt::format("every tool says its {}; see docs/policy.md", key);
    if (node == nullptr) return fail(error_at(table, fmt::format("the key '{}' is missing", key), hint));
    std::string value = TRY(text(*node, key));
    if (is_blank(value)) return fail(error_at(*node, fmt::format("'{}' is blank", key), hint));
    return value;
  }

  Result<std::string> read_name(const toml::table& table) const {
    std::string name = TRY(mandatory_text(table, "name"));
    if (is_tool_name(name)) return name;
    return fail(error_at(*table.get("name"), fmt::format("'{}' is not a tool name", name),
                         "use the binary's bare name: letters, digits and . _ + -, at most 64, never a path"));
  }

  Result<Role> read_role(const toml::table& table, std::string_view name) const {
    const std::string value = TRY(optional_text(table, "role"));
    if (!value.empty() && value != "tool" && value != "wrapper") {
      return fail(error_at(*table.get("role"), fmt::format("unknown role '{}'", value), "use \"tool\" or \"wrapper\""));
    }
    const bool wants_tool = value != "wrapper";
    if (wants_tool && is_builtin_wrapper(name)) {
      return fail(error_at(*table.get("name"), fmt::format("'{}' can only be a wrapper", name),
                           "write role = \"wrapper\": only a jail may start it"));
    }
    return wants_tool ? Role::kTool : Role::kWrapper;
  }

  // What a built-in tool always gets stays on; a policy may only add hardening to a tool that has none (C28).
  Result<Hardening> read_hardening(const toml::table& table, std::string_view name) const {
    const Hardening fixed = builtin_hardening(name).value_or(Hardening::kNone);
    const toml::node* const node = table.get("hardening");
    if (node == nullptr) return fixed;
    const std::string value = TRY(text(*node, "hardening"));
    const std::optional<Hardening> wanted = hardening_named(value);
    if (!wanted) {
      return fail(error_at(*node, fmt::format("unknown hardening '{}'", value),
                           fmt::format("one of {}", fmt::join(hardening_names(), ", "))));
    }
    if (fixed != Hardening::kNone && *wanted != fixed) {
      return fail(error_at(*node, fmt::format("the hardening of '{}' cannot be changed", name),
                           fmt::format("leave the key out; it is always \"{}\"", hardening_name(fixed))));
    }
    return *wanted;
  }

  Result<std::optional<std::string>> read_sha256(const toml::table& table) const {
    const toml::node* const node = table.get("sha256");
    if (node == nullptr) return std::optional<std::string>();
    std::string value = TRY(text(*node, "sha256"));
    if (is_sha256_hex(value)) return std::optional(std::move(value));
    return fail(error_at(*node, "'sha256' is not a digest", "64 lower-case hex digits, as sha256sum prints them"));
  }

  Result<std::vector<HostRule>> read_hosts(const toml::table& table) const {
    std::vector<HostRule> hosts;
    const toml::node* const node = table.get("allow_hosts");
    if (node == nullptr) return hosts;
    const toml::array* const list = node->as_array();
    if (list == nullptr) return fail(error_at(*node, "'allow_hosts' must be an array", "write [\"host.example\"]"));
    for (const toml::node& item : *list) {
      Result<HostRule> host = parse_host_rule(TRY(text(item, "allow_hosts")));
      if (!host) return fail(error_at(item, host.error().message, host.error().hint));
      if (std::ranges::find(hosts, *host) != hosts.end()) {
        return fail(
            error_at(item, fmt::format("the host '{}' is listed twice", host_rule_text(*host)), "keep one of the two"));
      }
      hosts.push_back(std::move(*host));
    }
    return hosts;
  }

  Result<ToolEntry> read_tool(const toml::table& table) const {
    TRY(check_keys(table, kToolKeys));
    ToolEntry entry;
    entry.name = TRY(read_name(table));
    entry.decision_record = TRY(mandatory_text(table, "decision_record"));
    entry.reason = TRY(mandatory_text(table, "reason"));
    entry.role = TRY(read_role(table, entry.name));
    entry.install_hint = TRY(optional_text(table, "install_hint"));
    entry.hardening = TRY(read_hardening(table, entry.name));
    entry.sha256 = TRY(read_sha256(table));
    entry.allowed_hosts = TRY(read_hosts(table));
    return entry;
  }

  std::string_view file_;
  const AsciiArmour& armour_;
};

Error not_utf8(std::string_view toml, std::string_view file) {
  unsigned line = 1;
  unsigned column = 1;
  for (Utf8Char next = decode_utf8(toml); next.length != 0; next = decode_utf8(toml)) {
    toml.remove_prefix(next.length);
    column = next.code_point == U'\n' ? 1 : column + 1;
    if (next.code_point == U'\n') ++line;
  }
  return policy_error(file, line, column, "not valid UTF-8", "save the file as UTF-8");
}

}  // namespace

Result<Allowlist> Allowlist::from_policy(std::string_view toml, std::string_view file) {
  if (!is_valid_utf8(toml)) return fail(not_utf8(toml, file));
  const AsciiArmour armour(toml);
  const PolicyReader reader(file, armour);
  const toml::parse_result parsed = toml::parse(armour.text());
  if (!parsed) return fail(reader.syntax_error(parsed.error()));
  return Allowlist(TRY(reader.read(parsed.table())));
}

}  // namespace sallyport
