// Why a start failed, in words that a person can act on: which step, which file or sysctl to check.
#pragma once

#include <string>

#include "sallyport/error.h"

namespace sallyport {

// True when the host lacks what a jail needs (so another jail may work); false when this request is at fault.
[[nodiscard]] bool host_cannot_jail(const Error& error);

// Turns a failed step into the caller's words for `tool`; other errors pass through.
[[nodiscard]] Error explain_failure(Error error, const std::string& tool, const std::string& path);

}  // namespace sallyport
