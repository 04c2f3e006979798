// The library's hints name its API (sallyport/error.h); a user of the CLI needs the option instead.
#pragma once

#include <string>
#include <vector>

#include "sallyport/error.h"
#include "sallyport/event.h"
#include "sallyport/jail.h"

namespace sallyport::cli {

// "say `allow_unjailed`" becomes "say --allow-unjailed". Leaves text in backticks that is no name of the API.
[[nodiscard]] std::string in_options(std::string hint);
[[nodiscard]] Error in_options(Error error);
[[nodiscard]] Event in_options(Event event);
[[nodiscard]] std::vector<Denial> in_options(std::vector<Denial> denials);

}  // namespace sallyport::cli
