// Files of a directory that have no name any more and are still open somewhere: no walk finds them, and they take blocks.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sallyport::workspace {

// Bytes on disk of those that processes of other pid namespaces hold, by what /proc shows of their descriptors: the directory at
// its own path or as /work, which is how a jail shows it. Only what is mapped and not open is missed. Costs a millisecond or so for
// each thousand descriptors.
[[nodiscard]] std::uint64_t deleted_bytes_held(const std::filesystem::path& directory);

}  // namespace sallyport::workspace
