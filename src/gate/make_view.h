// What a jail shows of the host in one run: the view, and which file each path of the caller's was when it was checked.
#pragma once

#include <string>

#include "core/view/host_view.h"
#include "gate/prepare.h"
#include "sallyport/jail_port.h"
#include "sallyport/result.h"

namespace sallyport {

// `home` may be empty. A repo that contains it is refused: nothing of the caller's home may come along by accident. Only a run
// needs its workspace's private part to be there.
[[nodiscard]] Result<HostView> make_view(const Prepared& prepared, const HostRoot& host, const std::string& home,
                                         Purpose purpose);

}  // namespace sallyport
