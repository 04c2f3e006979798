// The library's hints and the fields of its errors name its API (sallyport/error.h); a user of the CLI needs the option instead.
#pragma once

#include <string>
#include <vector>

#include "sallyport/error.h"
#include "sallyport/event.h"
#include "sallyport/jail.h"

namespace sallyport::cli {

// "say `allow_unjailed`" becomes "say --allow-unjailed", and "invalid no_exec: why" becomes "invalid noexec: why". Leaves other text
// in backticks as it is.
[[nodiscard]] std::string in_options(std::string text);
// Also the field of an InvalidRequest. Doing it twice changes nothing more.
[[nodiscard]] Error in_options(Error error);
[[nodiscard]] Event in_options(Event event);
[[nodiscard]] std::vector<Denial> in_options(std::vector<Denial> denials);

}  // namespace sallyport::cli
