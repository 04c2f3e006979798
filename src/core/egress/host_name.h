// One normalisation for host names, so that the rule, the lookup, the SNI and the Host header compare equal or not at
// all: lower case, no trailing dot, IDNA A-labels. It refuses anything that could be read in two ways.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/egress/ip_address.h"
#include "sallyport/result.h"

namespace sallyport {

// The longest name DNS can carry, without its trailing dot.
inline constexpr std::size_t kLongestHostName = 253;

// For names only: an IP literal in any spelling is an error, as are NUL, control bytes, userinfo, empty labels and
// labels longer than 63 bytes. Unicode names become punycode (full-width and ideographic dots are dots).
[[nodiscard]] Result<std::string> normalise_host_name(std::string_view text);

}  // namespace sallyport
