// What the host's root looks like, found once: which system directories there are, which are links, and the part of
// /etc that programs need. Everything else of /etc (shadow, host keys, private certificates) is left out by omission.
#pragma once

#include "core/view/fs_view.h"

namespace sallyport {

[[nodiscard]] HostLayout read_host_layout();

}  // namespace sallyport
