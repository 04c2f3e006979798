// Patterns over paths with '/' between components.
#pragma once

#include <string_view>

namespace sallyport {

// "*" and "?" stay within one component, "**" as a whole component spans any number of them, any other character
// matches itself. A pattern that matches a directory above the path matches the path, and a '/' at the pattern's end
// changes nothing. The time is at most the product of the two sizes.
[[nodiscard]] bool matches_path(std::string_view pattern, std::string_view path);

}  // namespace sallyport
