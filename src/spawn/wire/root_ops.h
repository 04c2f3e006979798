// A file system view as the steps by which our init builds it. Pure: the caller passes in the identities of host paths.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

// The identity that a bind's source had when it was checked; system paths need none.
using IdentityOf = std::function<std::optional<FileIdentity>(const std::string&)>;

[[nodiscard]] std::vector<RootOp> root_ops(std::span<const ViewEntry> view, const IdentityOf& identity_of);

}  // namespace sallyport::spawn
