// Every hardening there is.
#pragma once

#include <string_view>
#include <vector>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

// Null for an unknown name.
[[nodiscard]] const HardeningRow* find_hardening(std::string_view name);
[[nodiscard]] std::vector<std::string_view> hardening_names();

}  // namespace sallyport::hardening
