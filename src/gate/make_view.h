// What a jail shows of the host in one run: the view, and the identity that each of the caller's paths had when it was
// checked.
#pragma once

#include <string>

#include "core/view/host_view.h"
#include "gate/prepare.h"
#include "sallyport/jail_port.h"
#include "sallyport/result.h"

namespace sallyport {

// `home` may be empty. Refuses a repo that contains it, so that nothing of the caller's home is shown by accident. A
// workspace's private part must exist only for a run.
[[nodiscard]] Result<HostView> make_view(const Prepared& prepared, const HostRoot& host, const std::string& home,
                                         Purpose purpose);

}  // namespace sallyport
