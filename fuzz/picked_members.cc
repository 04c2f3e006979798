// Any text as an edited record of the audit log: the picked members equal those of the whole text, and what is no
// object is nothing.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/json/picked.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sallyport::Json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sallyport::MemberNames names = {"kind", "tool", "outcome.outcome", "request.argv", "denials"};
  const std::string some = sallyport::picked_text(text, names);
  require(some.empty() || (some.front() == '{' && some.back() == '}' && some.size() <= text.size() + 2));
  const Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_object()) return 0;
  // To nlohmann a NUL is the end of the text; to us a record with one is none.
  if (some.empty() && text.find('\0') != std::string_view::npos) return 0;
  require(!some.empty());
  const Json picked = Json::parse(some, nullptr, false);
  require(picked.is_object());
  for (const char* name : {"kind", "tool", "denials"}) {
    // A name spelled with escapes is another to us; the writer has none.
    if (picked.contains(name)) require(whole.contains(name));
    if (picked.contains(name) && text.find('\\') == std::string_view::npos) require(picked[name] == whole[name]);
  }
  return 0;
}
