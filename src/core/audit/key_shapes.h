// Recognises keys and tokens by their shape alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace sallyport::audit {

// How many bytes at `at` look like a well-known kind of key, or like the value of an Authorization scheme; 0: none do.
[[nodiscard]] std::size_t key_shape_at(std::string_view text, std::size_t at);

}  // namespace sallyport::audit
