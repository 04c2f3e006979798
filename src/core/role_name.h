// What JSON, the digest of a set and the CLI call a role.
#pragma once

#include <string_view>

#include "sallyport/allowlist.h"

namespace sallyport {

[[nodiscard]] constexpr std::string_view role_name(Role role) { return role == Role::kWrapper ? "wrapper" : "tool"; }

}  // namespace sallyport
