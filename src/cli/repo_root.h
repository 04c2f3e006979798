// Which repo a directory belongs to, for callers who do not say.
#pragma once

#include <filesystem>

namespace sallyport::cli {

// The nearest directory from `cwd` upwards that has a `.git`, else `cwd`. Never `home`, `/` or anything above `home`:
// a stray `.git` there must not put a whole home directory into the analysed repo. Both canonical; `home` may be
// empty.
[[nodiscard]] std::filesystem::path find_repo_root(const std::filesystem::path& cwd, const std::filesystem::path& home);

}  // namespace sallyport::cli
