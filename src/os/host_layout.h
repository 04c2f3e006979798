// The layout of the host's root, read once: its system directories, which of them are links, and the part of /etc that
// programs need. A jail shows nothing else of /etc (shadow, host keys, private certificates).
#pragma once

#include "core/view/fs_view.h"

namespace sallyport {

[[nodiscard]] HostLayout read_host_layout();

}  // namespace sallyport
