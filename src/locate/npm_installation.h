// Which npm a pinned tool is: its version, and the paths it takes for its own defaults.
#pragma once

#include "core/policy/hardening/npm_layout.h"
#include "locate/tool_locator.h"

namespace sallyport {

// Reads package.json and npmrc beside the pinned npm-cli.js, in directories that the locator has judged. What cannot be
// read or understood stays empty; fit_to_npm() then pins it to nothing.
[[nodiscard]] hardening::NpmLayout read_npm_layout(const PinnedTool& npm);

}  // namespace sallyport
