// The options that `run` and `explain` share, and the words that stand for their values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Reads options up to `--` or the first operand; all that follows belongs to the tool. Nothing when help was asked for.
[[nodiscard]] Result<std::optional<CallOptions>> parse_call_options(std::span<const std::string> args);

// The jail that --jail NAME means.
[[nodiscard]] Result<JailKind> jail_named(std::string_view name);

// Whether --json stands among the options, in a line that may be wrong elsewhere.
[[nodiscard]] Format call_format(std::span<const std::string> args);

}  // namespace sallyport::cli
