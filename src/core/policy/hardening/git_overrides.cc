#include "core/policy/hardening/git_overrides.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/errors.h"
#include "core/policy/hardening/git_config.h"
#include "core/policy/hardening/git_keys.h"

namespace sallyport::hardening {
namespace {

struct KeyParts {
  std::string_view section;
  std::string_view middle;  // without the dots around it; often empty
  std::string_view name;
};

// Only the middle part can hold dots.
KeyParts split_key(std::string_view key) {
  const std::size_t first = key.find('.');
  const std::size_t last = key.rfind('.');
  KeyParts parts{.section = key.substr(0, first), .middle = {}, .name = key.substr(last + 1)};
  if (last > first) parts.middle = key.substr(first + 1, last - first - 1);
  return parts;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return out;
}

bool is_fixed(std::string_view key) {
  return std::ranges::any_of(git_settings(), [&](const GitSetting& setting) { return lower_case(setting.key) == key; });
}

// core.worktree is not here: an empty value is not neutral. The gate names the work tree instead.
std::optional<std::string_view> override_for(const KeyParts& key) {
  for (const GitKeyRule& rule : git_key_rules()) {
    const KeyParts known = split_key(rule.pattern);
    if (known.section == key.section && (known.name == "*" || known.name == key.name)) return rule.value;
  }
  if (git_section_is_closed(key.section)) {
    return git_key_is_harmless(key.section, key.name) ? std::nullopt : std::optional<std::string_view>("");
  }
  // git followed includes when it made the listing.
  if (key.section == "include" || key.section == "includeif") return std::nullopt;
  return sounds_dangerous(key.name) ? std::optional<std::string_view>("") : std::nullopt;
}

Status check_can_be_outranked(const GitEntry& entry, const KeyParts& key) {
  static constexpr std::string_view kTakeItOut = "take it out of the repo's .git/config";
  // These may include another file in a process that git starts later, after a branch or a remote has changed.
  if (key.section == "includeif" && (key.middle.starts_with("onbranch:") || key.middle.starts_with("hasconfig:"))) {
    return fail(
        invalid_request("git configuration", fmt::format("{} may name other files later", entry.key), kTakeItOut));
  }
  if (key.section == "extensions" && key.name == "refstorage" && entry.value.find("://") != std::string::npos) {
    return fail(
        invalid_request("git configuration", fmt::format("{} keeps refs in another place", entry.key), kTakeItOut));
  }
  return {};
}

}  // namespace

Result<std::vector<GitEntry>> parse_git_listing(std::string_view listing) {
  std::vector<GitEntry> entries;
  while (!listing.empty()) {
    const std::size_t end = listing.find('\0');
    const std::string_view entry = listing.substr(0, end);
    const std::size_t newline = entry.find('\n');
    const std::string_view key = entry.substr(0, newline);
    if (end == std::string_view::npos || key.find('.') == std::string_view::npos) {
      return fail(invalid_request("git configuration", "git's list of it is not understood",
                                  "see what `git config --list` says in the repo"));
    }
    const std::string_view value = newline == std::string_view::npos ? "" : entry.substr(newline + 1);
    entries.push_back({.key = std::string(key), .value = std::string(value)});
    listing.remove_prefix(end + 1);
  }
  return entries;
}

Result<std::vector<GitEntry>> git_overrides(std::span<const GitEntry> listed) {
  std::vector<GitEntry> overrides;
  for (const GitEntry& entry : listed) {
    const KeyParts key = split_key(entry.key);
    TRY(check_can_be_outranked(entry, key));
    if (is_fixed(entry.key)) continue;
    if (const std::optional<std::string_view> value = override_for(key)) {
      overrides.push_back({.key = entry.key, .value = std::string(*value)});
    }
  }
  std::ranges::sort(overrides, {}, &GitEntry::key);
  const auto repeated = std::ranges::unique(overrides);
  overrides.erase(repeated.begin(), repeated.end());
  if (overrides.size() > kMostGitOverrides) {
    return fail(invalid_request("git configuration",
                                fmt::format("{} of its keys name programs or files", overrides.size()),
                                fmt::format("at most {} can be switched off", kMostGitOverrides)));
  }
  return overrides;
}

GitArguments as_arguments(std::span<const GitEntry> overrides) {
  GitArguments arguments;
  for (const GitEntry& entry : overrides) {
    if (entry.key.find('=') == std::string::npos) {
      arguments.argv.emplace_back("-c");
      arguments.argv.push_back(fmt::format("{}={}", entry.key, entry.value));
      continue;
    }
    // -c ends the key at its first "=", --config-env at its last. So a variable holds the value.
    std::string variable = fmt::format("SALLYPORT_GIT_VALUE_{}", arguments.env.size());
    arguments.argv.push_back(fmt::format("--config-env={}={}", entry.key, variable));
    arguments.env.push_back({.name = std::move(variable), .value = entry.value});
  }
  return arguments;
}

std::vector<std::string> skip_lists_in(std::span<const GitEntry> listed) {
  std::vector<std::string> keys;
  for (const GitEntry& entry : listed) {
    if (split_key(entry.key).name == "skiplist") keys.push_back(entry.key);
  }
  return keys;
}

bool moves_work_tree(std::span<const GitEntry> listed) {
  return std::ranges::find(listed, "core.worktree", &GitEntry::key) != listed.end();
}

}  // namespace sallyport::hardening
