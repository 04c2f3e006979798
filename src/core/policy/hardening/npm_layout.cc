#include "core/policy/hardening/npm_layout.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sallyport::hardening {
namespace {

constexpr std::string_view kNothing = "/dev/null";

// An unknown version gets every pin: rather one warning more than one pin less.
bool knows(const NpmLayout& layout, const NpmPin& pin) {
  return !layout.version || (*layout.version >= pin.since && *layout.version < pin.until);
}

// npm keeps the default of these in an accessor that swallows the first value set: with the variable alone, a project's
// .npmrc would count. npm reads the option first, and then the variable counts.
bool has_accessor(std::string_view key) { return key == "globalconfig" || key == "global-ignore-file"; }

std::string below(const std::string& directory, std::string_view rest) {
  return directory.empty() ? std::string(kNothing) : directory + std::string(rest);
}

std::string path_of_key(const NpmLayout& layout, std::string_view key) {
  if (key == "globalconfig") return below(layout.global_config, "");
  if (key == "prefix") return below(layout.prefix, "");
  if (key == "node-gyp") return below(layout.root, "/node_modules/node-gyp/bin/node-gyp.js");
  return below(layout.prefix, "/etc/npmignore");
}

bool read_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<NpmVersion> parse_npm_version(std::string_view text) {
  NpmVersion version;
  if (!read_number(text, version.major) || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  if (!read_number(text, version.minor) || !text.starts_with('.')) return std::nullopt;
  return version;
}

void fit_to_npm(const NpmLayout& layout, std::vector<std::string>& argv, std::vector<EnvVar>& env) {
  for (const NpmPin& pin : npm_pins()) {
    if (knows(layout, pin)) continue;
    std::erase_if(env, [&](const EnvVar& var) { return var.name == npm_variable(pin.key); });
  }
  std::vector<std::string> options;
  for (const NpmPin& pin : npm_layout_pins()) {
    if (!knows(layout, pin)) continue;
    const std::string value = path_of_key(layout, pin.key);
    env.push_back({.name = npm_variable(pin.key), .value = value});
    if (has_accessor(pin.key)) options.push_back("--" + std::string(pin.key) + "=" + value);
  }
  std::ranges::sort(env, {}, &EnvVar::name);
  argv.insert(argv.begin() + 1, options.begin(), options.end());
}

}  // namespace sallyport::hardening
