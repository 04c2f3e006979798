// A file system view as the steps by which our init builds it. Pure: identities of host paths are passed in, nothing is looked up.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

// Which file a bind's source was when it was checked; system paths need none.
using IdentityOf = std::function<std::optional<FileIdentity>(const std::string&)>;

[[nodiscard]] std::vector<RootOp> root_ops(std::span<const ViewEntry> view, const IdentityOf& identity_of);

}  // namespace sallyport::spawn
