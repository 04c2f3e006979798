// Runs before libc is ready: no call of anything outside, no table that holds a pointer.
#include "cli/early_admission.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/early_text.h"
#include "sallyport/allowlist.h"

namespace sallyport::cli {
namespace {

// Wrappers are in the set too, but not to be called by anybody else (C4).
constexpr bool is_wrapper(std::string_view name) { return name == "bwrap" || name == "sandbox-exec"; }

// All names one after the other, each with its NUL.
consteval auto flat_names() {
  constexpr std::size_t kSize = [] {
    std::size_t size = 0;
    for (const std::string_view name : kAllowedBinaries) size += is_wrapper(name) ? 0 : name.size() + 1;
    return size;
  }();
  std::array<char, kSize> flat{};
  auto* out = flat.begin();
  for (const std::string_view name : kAllowedBinaries) {
    if (!is_wrapper(name)) out = std::ranges::copy(name, out).out + 1;
  }
  return flat;
}
constexpr auto kNames = flat_names();

// Nothing that would have to be written in another way inside a TOML string.
bool is_plain(const char* name) {
  for (const char* letter = name; *letter != '\0'; ++letter) {
    const char c = *letter;
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '_' || c == '+' || c == '-';
    if (!plain) return false;
  }
  return *name != '\0';
}

struct Cursor {
  const char* at;
  const char* end;

  void skip_blanks() {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
  }
  bool take(const char* word) {
    const char* rest = at;
    for (; *word != '\0'; ++word, ++rest) {
      if (rest == end || *rest != *word) return false;
    }
    at = rest;
    return true;
  }
  bool at_line_end() const { return at == end || *at == '\n' || (*at == '\r' && at + 1 != end && at[1] == '\n'); }
};

// A line `name = "tool"`, and nothing else on it.
bool names(Cursor line, const char* tool) {
  line.skip_blanks();
  if (!line.take("name")) return false;
  line.skip_blanks();
  if (!line.take("=")) return false;
  line.skip_blanks();
  if (!line.take("\"") || !line.take(tool) || !line.take("\"")) return false;
  line.skip_blanks();
  return line.at_line_end();
}

// Where a line may not be what it looks like: inside a string of several lines; or the entry is not for a tool.
bool may_mislead(Cursor here) {
  return here.take("\\") || here.take("\"\"\"") || here.take("'''") || here.take("wrapper");
}

}  // namespace

bool builtin_set_surely_has(const char* tool) {
  for (const char* name = kNames.data(); name != kNames.data() + kNames.size(); name = early::past_end(name)) {
    if (early::equal(name, tool)) return true;
  }
  return false;
}

bool policy_surely_has(const char* text, std::size_t size, const char* tool) {
  if (!is_plain(tool)) return false;
  bool named = false;
  bool line_begins = true;
  for (Cursor here = {text, text + size}; here.at != here.end; ++here.at) {
    if (may_mislead(here)) return false;
    named = named || (line_begins && names(here, tool));
    line_begins = *here.at == '\n';
  }
  return named;
}

}  // namespace sallyport::cli
