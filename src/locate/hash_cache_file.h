// The hash cache's file: "<device> <inode> <size> <mtime_ns> <ctime_ns> <sha256>" a line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "locate/hash_cache.h"

namespace sallyport {

inline constexpr std::string_view kHashFileName = "hashes.v1";
inline constexpr std::size_t kMostHashes = 512;  // a cache, not an archive: about 64 KiB

// Canonical directories in which a tool can write, or the analysed repo: anyone could have written a cache found there.
using ExposedPlaces = std::set<std::filesystem::path>;

// Empty when there is no file, or it is not ours alone (it and every directory on the way), or it lies in an exposed place, or
// any line of it is not as we write them.
[[nodiscard]] std::map<FileStamp, std::string> load_hashes(const std::filesystem::path& directory,
                                                           const ExposedPlaces& exposed = {});
// Makes the directory (0700) when it is missing, and its parent when that is a home's missing ".cache"; never a home.
// Ignores a failed save: the next start just reads the files again.
void save_hashes(const std::filesystem::path& directory, const std::map<FileStamp, std::string>& hashes,
                 const ExposedPlaces& exposed = {});
// Removes the file when it lies in an exposed place: so that a later run does not trust what a tool planted there.
void remove_exposed_hashes(const std::filesystem::path& directory, const ExposedPlaces& exposed);

[[nodiscard]] std::map<FileStamp, std::string> parse_hashes(std::string_view text);
[[nodiscard]] std::string format_hashes(const std::map<FileStamp, std::string>& hashes);

}  // namespace sallyport
