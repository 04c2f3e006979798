#include "core/policy/ready_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/errors.h"
#include "core/text/did_you_mean.h"

namespace sallyport {
namespace {

constexpr auto kReady = std::to_array<ReadyPolicy>({
#include "ready_policies.inc"
});

// Our own text contains no quote, backslash or control character (a test parses the result).
void add_tool_text(const ToolEntry& entry, std::string& text) {
  text += fmt::format("\n[[tool]]\nname = \"{}\"\ndecision_record = \"{}\"\nreason = \"{}\"\ninstall_hint = \"{}\"\n",
                      entry.name, entry.decision_record, entry.reason, entry.install_hint);
  if (entry.hardening != kNoHardening) text += fmt::format("hardening = \"{}\"\n", entry.hardening);
}

// The comment at the beginning.
std::string_view head_of(std::string_view toml) { return toml.substr(0, toml.find("\n\n")); }

Error no_such_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ReadyPolicy& ready : kReady) names.push_back(ready.name);
  const std::string suggestion = did_you_mean(name, names);
  return invalid_request(
      "policy", name.empty() ? "no ready policy was named" : fmt::format("there is no ready policy '{}'", name),
      suggestion.empty() ? fmt::format("one or more of: {}", fmt::join(names, ", ")) : suggestion);
}

}  // namespace

std::span<const ReadyPolicy> ready_policies() { return kReady; }

Result<std::string> make_policy_text(std::span<const std::string> names) {
  if (names.empty()) return fail(no_such_policy(""));
  std::string text = fmt::format(
      "# Made by: sallyport allowlist init {}\n# Yours from here on: take out what you do not "
      "need, and name your own decision records.\n\nschema = \"sallyport.policy/1\"\n",
      fmt::join(names, " "));
  std::vector<std::string> written;
  for (const std::string& name : names) {
    const auto* const ready = std::ranges::find(kReady, name, &ReadyPolicy::name);
    if (ready == kReady.end()) return fail(no_such_policy(name));
    const Allowlist set = TRY(Allowlist::from_policy(ready->toml, name));
    text += fmt::format("\n{}\n", head_of(ready->toml));
    for (const ToolEntry& entry : set.entries()) {
      if (std::ranges::find(written, entry.name) != written.end()) continue;
      written.push_back(entry.name);
      add_tool_text(entry, text);
    }
  }
  return text;
}

std::vector<std::string_view> ready_policies_with(std::string_view tool) {
  std::vector<std::string_view> found;
  const std::string line = fmt::format("\nname = \"{}\"\n", tool);
  for (const ReadyPolicy& ready : kReady) {
    if (ready.toml.find(line) != std::string_view::npos) found.push_back(ready.name);
  }
  return found;
}

}  // namespace sallyport
