// Names as git and file systems understand them, for the judge of what would run later.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::persistence {

// A path as a file system may take it that does not tell cases apart, drops characters or has second names: lower case, without
// code points that HFS+ ignores, without what NTFS cuts off a name's end, its short name of ".git" and backslashes read as such.
[[nodiscard]] std::string as_compared(std::string_view path);

// ".eslintrc", ".prettierrc.toml": by this name tools look for their configuration. `name` as compared.
[[nodiscard]] bool is_rc_file(std::string_view name);

// A name of git's hooks; `path` tells where, since some are common words. Both as compared.
[[nodiscard]] bool is_hook_name(std::string_view name, std::string_view path);

// What git takes for the HEAD of a git directory: a reference or an object's name.
[[nodiscard]] bool is_head_of_git(std::string_view text);

}  // namespace sallyport::persistence
