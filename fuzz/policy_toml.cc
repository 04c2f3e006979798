// Any text as a policy file (C3): an allowlist in which every entry is governed, or an error that points into the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "sallyport/allowlist.h"
#include "sallyport/error.h"

namespace {

void check_error(const sallyport::Error& error, std::string_view text) {
  const auto* place = error.as<sallyport::PolicyError>();
  require(place != nullptr);
  require(!error.message.empty());
  require(error.message.find('\n') == std::string_view::npos);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  require(place->line <= lines);
}

void check_allowlist(const sallyport::Allowlist& allowlist) {
  for (const sallyport::ToolEntry& entry : allowlist.entries()) {
    require(!entry.decision_record.empty());
    require(!entry.reason.empty());
    require(entry.name.find('/') == std::string_view::npos);
    require(allowlist.find(entry.name) == &entry);  // no name twice
    require(allowlist.admit(entry.name).has_value() == (entry.role == sallyport::Role::kTool));
  }
  (void)allowlist.canonical_text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto allowlist = sallyport::Allowlist::from_policy(text, "fuzz.toml");
  if (allowlist) {
    check_allowlist(*allowlist);
  } else {
    check_error(allowlist.error(), text);
  }
  return 0;
}
