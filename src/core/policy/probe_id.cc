#include "sallyport/probe_id.h"

#include <algorithm>
#include <cstddef>

#include "core/errors.h"

namespace sallyport {
namespace {

constexpr std::size_t kLongestProbeName = 64;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_probe_char(char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

Result<ProbeId> ProbeId::parse(std::string_view text) {
  const bool valid = !text.empty() && text.size() <= kLongestProbeName && is_lower(text.front()) &&
                     std::ranges::all_of(text, is_probe_char);
  if (!valid) return fail(invalid_probe_name(text));
  return ProbeId(std::string(text));
}

}  // namespace sallyport
