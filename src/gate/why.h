// Why a start failed, in words that a person can act on: which step, which file or sysctl to check.
#pragma once

#include <sys/types.h>

#include <string>

#include "os/host_switches.h"
#include "os/place.h"
#include "sallyport/error.h"

namespace sallyport {

// True when the host lacks what a jail needs (so another jail may work); false when this request is at fault.
[[nodiscard]] bool host_cannot_jail(const Error& error);

// What of a host explains why a jail cannot be built there.
struct HostSigns {
  HostSwitches switches{};
  uid_t user = 0;  // this process's
  Place place = Place::kHost;
};
// What to check or change on such a host. Never empty.
[[nodiscard]] std::string advice_after(const SetupFailed& failure, const HostSigns& host);

// Turns a failed step into the caller's words for `tool`; other errors pass through.
[[nodiscard]] Error explain_failure(Error error, const std::string& tool, const std::string& path);

}  // namespace sallyport
