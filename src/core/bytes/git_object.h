// Git's objects are named by the hash of what they hold, so what a stranger's git says of one can be checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

// The tree that a commit names, when `content` (as `git cat-file commit` prints it) really is the commit of that id: 40 hex digits
// (SHA-1) or 64 (SHA-256). Nothing otherwise.
[[nodiscard]] std::optional<std::string> tree_of_commit(std::string_view id, std::string_view content);

}  // namespace sallyport
