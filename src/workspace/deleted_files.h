// Finds deleted files of a directory that are still open: no walk finds them, but they use blocks.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sallyport::workspace {

// Bytes on disk that processes of other pid namespaces hold, from their descriptors in /proc: below the directory's own
// path or /work, the names in a jail. It misses only files that are mapped and not open. Costs about a millisecond per
// thousand descriptors.
[[nodiscard]] std::uint64_t deleted_bytes_held(const std::filesystem::path& directory);

}  // namespace sallyport::workspace
