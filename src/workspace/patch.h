// One change as a patch that `git apply` takes.
#pragma once

#include <string>

#include "sallyport/result.h"
#include "sallyport/workspace.h"

namespace sallyport::workspace {

// Of both sides the content, or a symlink's text; empty where there is none.
[[nodiscard]] std::string patch_text(const Change& change, const std::string& before, const std::string& after);
// The same for content that is not shown.
[[nodiscard]] std::string patch_without_text(const Change& change, std::string_view why);

}  // namespace sallyport::workspace
