// Pages of help and the version.
#pragma once

#include <string_view>

#include "cli/verb.h"

namespace sallyport::cli {

[[nodiscard]] Action show_page(std::string_view page);
[[nodiscard]] Result<Action> parse_version(Args args, Format& format);
[[nodiscard]] Error unknown_verb(std::string_view name);
// The first page: every verb with its summary.
[[nodiscard]] std::string overview();

}  // namespace sallyport::cli
