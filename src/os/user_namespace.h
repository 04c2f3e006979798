// What a user namespace does to the owners of files.
#pragma once

#include <sys/types.h>

#include <optional>

namespace sallyport {

// Users that a user namespace does not map, the host's root included, appear as the overflow uid. Returns that uid if
// no user of our namespace has the same number; nullopt in the initial namespace, where it is plain "nobody".
[[nodiscard]] std::optional<uid_t> unmapped_owner();

}  // namespace sallyport
