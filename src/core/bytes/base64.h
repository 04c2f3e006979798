// RFC 4648 section 4, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

[[nodiscard]] std::string base64(std::string_view bytes);

// Either alphabet of RFC 4648 (sections 4 and 5), with or without padding; nullopt when it is neither.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace sallyport
