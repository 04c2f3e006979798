// A git object's name is the hash of its content, so we can check what an untrusted repo's git prints.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sallyport {

// The tree that a commit names, if `content` (as `git cat-file commit` prints it) really is the commit with that id: 40
// hex digits (SHA-1) or 64 (SHA-256). Otherwise nullopt.
[[nodiscard]] std::optional<std::string> tree_of_commit(std::string_view id, std::string_view content);

}  // namespace sallyport
