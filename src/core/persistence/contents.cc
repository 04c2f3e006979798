// Findings that need a file's content: package.json, its lock file, git's configuration.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/persistence/judge.h"
#include "core/text/printable.h"
#include "core/view/git_parts.h"

namespace sallyport::persistence {
namespace {

using Tree = nlohmann::json;
using enum PersistenceSeverity;

constexpr std::size_t kLongestQuote = 120;

std::string quote(std::string_view text) {
  std::string shown = printable(text.substr(0, kLongestQuote));
  return text.size() > kLongestQuote ? shown + "…" : shown;
}

// Returns an object; nullopt for text that we could not compare.
std::optional<Tree> parse(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  Tree json = Tree::parse(*text, nullptr, false);
  return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
}

const Tree& member(const std::optional<Tree>& json, const char* key) {
  static const Tree nothing;
  return json && json->contains(key) ? (*json)[key] : nothing;
}

// The host that a URL names, or its scheme when that names none: "file:".
std::string host_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url.substr(0, url.find(':') + 1);
  const std::size_t begin = scheme + 3;
  std::string host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (const std::size_t user = host.rfind('@'); user != std::string::npos) host.erase(0, user + 1);
  return host;
}

void collect_hosts(const Tree& json, std::set<std::string>& hosts) {
  // Without recursion: the author can nest a lock file to any depth.
  std::vector<const Tree*> waiting = {&json};
  while (!waiting.empty()) {
    const Tree& one = *waiting.back();
    waiting.pop_back();
    if (one.is_object() && one.contains("resolved") && one["resolved"].is_string()) {
      hosts.insert(host_of(one["resolved"].get<std::string>()));
    }
    if (one.is_structured()) {
      for (const Tree& inner : one) waiting.push_back(&inner);
    }
  }
}

bool is_lifecycle(std::string_view script) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare",
                                       "prepublishOnly", "prepublish", "postpublish", "prepack", "postpack",
                                       "dependencies", "predependencies", "postdependencies", "pnpm:devPreinstall"});
  return std::ranges::find(kNames, script) != kNames.end();
}

// Members that managers of git hooks take commands from.
bool is_of_hooks(std::string_view key) {
  constexpr auto kNames = std::to_array<std::string_view>({"husky", "lint-staged", "simple-git-hooks", "gitHooks",
                                                           "git-hooks", "pre-commit", "pre-push", "precommit", "ghooks",
                                                           "yorkie", "lefthook", "nano-staged", "commitlint"});
  return std::ranges::find(kNames, key) != kNames.end();
}

// Members that describe a package to people, and those that have a check of their own. Any other may be some tool's
// configuration: jest, babel, eslint, prettier load code that is named there, corepack runs what "packageManager"
// names.
bool is_looked_at_or_harmless(std::string_view key) {
  constexpr auto kNames = std::to_array<std::string_view>({"scripts",
                                                           "dependencies",
                                                           "devDependencies",
                                                           "optionalDependencies",
                                                           "peerDependencies",
                                                           "name",
                                                           "version",
                                                           "description",
                                                           "keywords",
                                                           "homepage",
                                                           "bugs",
                                                           "license",
                                                           "licenses",
                                                           "author",
                                                           "contributors",
                                                           "maintainers",
                                                           "funding",
                                                           "files",
                                                           "repository",
                                                           "private",
                                                           "types",
                                                           "typings",
                                                           "man",
                                                           "readme",
                                                           "engines",
                                                           "os",
                                                           "cpu",
                                                           "libc",
                                                           "sideEffects",
                                                           "peerDependenciesMeta",
                                                           "dependenciesMeta",
                                                           "sponsor",
                                                           "preferGlobal",
                                                           "deprecated"});
  return std::ranges::find(kNames, key) != kNames.end();
}

}  // namespace

std::vector<Found> judge_package_json(const std::optional<std::string>& before,
                                      const std::optional<std::string>& after) {
  std::vector<Found> found;
  const std::optional<Tree> was = parse(before);
  const std::optional<Tree> is = parse(after);
  if (!is) {
    return {{"npm-script", "it cannot be read as a package's description, so its scripts are not known", kMedium}};
  }
  const Tree& old_scripts = member(was, "scripts");
  if (const Tree& scripts = member(is, "scripts"); scripts.is_object()) {
    for (const auto& [name, command] : scripts.items()) {
      if (old_scripts.is_object() && old_scripts.contains(name) && old_scripts[name] == command) continue;
      const std::string text = command.is_string() ? command.get<std::string>() : command.dump();
      found.push_back({"npm-script", fmt::format("npm runs its script {}: {}", quote(name), quote(text)),
                       is_lifecycle(name) ? kHigh : kMedium});
    }
  }
  for (const auto& [key, value] : is->items()) {
    if (is_looked_at_or_harmless(key) || value.is_null() || value == member(was, key.c_str())) continue;
    if (is_of_hooks(key)) {
      found.push_back({"hook-manager", fmt::format("its \"{}\" names commands of git hooks", quote(key)), kHigh});
    } else {
      found.push_back({"npm-bin", fmt::format("its \"{}\" differs, which some tool obeys", quote(key)), kLow});
    }
  }
  for (const char* key : {"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"}) {
    const Tree& old_packages = member(was, key);
    const Tree& packages = member(is, key);
    if (!packages.is_object()) continue;
    for (const auto& [name, version] : packages.items()) {
      if (old_packages.is_object() && old_packages.contains(name) && old_packages[name] == version) continue;
      const std::string text = version.is_string() ? version.get<std::string>() : version.dump();
      const bool elsewhere = text.find(':') != std::string::npos || text.find('/') != std::string::npos;
      found.push_back({"npm-dependency", fmt::format("npm will install {} {}", quote(name), quote(text)),
                       elsewhere ? kMedium : kLow});
    }
  }
  return found;
}

std::vector<Found> judge_package_lock(const std::optional<std::string>& before,
                                      const std::optional<std::string>& after) {
  const std::optional<Tree> is = parse(after);
  if (!is) return {{"lockfile", "it cannot be read, so where it leads npm is not known", kMedium}};
  std::set<std::string> hosts;
  collect_hosts(*is, hosts);
  std::set<std::string> known;
  if (const std::optional<Tree> was = parse(before)) collect_hosts(*was, known);
  std::vector<Found> found;
  for (const std::string& host : hosts) {
    if (known.contains(host)) continue;
    found.push_back({"lockfile-host", fmt::format("npm will fetch from {}", quote(host)), before ? kMedium : kLow});
  }
  if (found.empty()) found.push_back({"lockfile", "decides what npm will fetch and run", kLow});
  return found;
}

std::vector<Found> judge_git_config(const std::string& path, const std::optional<std::string>& before,
                                    const std::optional<std::string>& after) {
  if (!after) return {{"git-config", "git obeys it, and it cannot be read", kHigh}};
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  const std::optional<std::string> harm = harm_in_git_config(*after, directory);
  if (!harm) return {};
  // Ignore what the repo had before the run. But one harmful setting may hide another, so any change counts.
  if (before && *before == *after) return {};
  return {{"git-config", fmt::format("git obeys it: {}", quote(*harm)), kHigh}};
}

std::vector<Found> judge_possible_git_config(const std::optional<std::string>& after) {
  if (!after || programs_in_git_config(*after).empty()) return {};
  return {{"git-config", "it names programs or files, for a git that is led to it", kHigh}};
}

}  // namespace sallyport::persistence
