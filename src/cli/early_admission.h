// Whether a tool is in the set, as far as that can be told before libc is ready (early_jail.h): a "no" means nothing more
// than "not known yet". A "yes" is right, or the policy is not valid; so no process is begun for a tool of no set (C2).
#pragma once

#include <cstddef>

namespace sallyport::cli {

[[nodiscard]] bool builtin_set_surely_has(const char* tool);

// `text` is a policy file, whole.
[[nodiscard]] bool policy_surely_has(const char* text, std::size_t size, const char* tool);

}  // namespace sallyport::cli
