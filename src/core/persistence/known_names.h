// Names as git and file systems understand them, for the judge of what would run later.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::persistence {

// A path as a lenient file system may read it: in lower case, without the code points that HFS+ ignores, without what
// NTFS cuts off a name's end, with NTFS's short name of ".git" and its backslashes translated.
[[nodiscard]] std::string as_compared(std::string_view path);

// ".eslintrc", ".prettierrc.toml": tools find their configuration by such names. `name` comes from as_compared().
[[nodiscard]] bool is_rc_file(std::string_view name);

// True for a name of a git hook; `path` says where it lies, since some names are common words. Both come from
// as_compared().
[[nodiscard]] bool is_hook_name(std::string_view name, std::string_view path);

// True for what git accepts as the HEAD of a git directory: a reference or an object's name.
[[nodiscard]] bool is_head_of_git(std::string_view text);

}  // namespace sallyport::persistence
