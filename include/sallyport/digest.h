// SHA-256 as 64 lower-case hex digits: for whoever must name a thing without showing it. Defined in core/bytes.
#pragma once

#include <string>
#include <string_view>

namespace sallyport {

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace sallyport
