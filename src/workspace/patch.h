// One change as a patch for `git apply`.
#pragma once

#include <string>

#include "sallyport/result.h"
#include "sallyport/workspace.h"

namespace sallyport::workspace {

// `before` and `after` are the content, or a symlink's text; empty if there is none.
[[nodiscard]] std::string patch_text(const Change& change, const std::string& before, const std::string& after);
// The same without the content.
[[nodiscard]] std::string patch_without_text(const Change& change, std::string_view why);

}  // namespace sallyport::workspace
