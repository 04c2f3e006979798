// openat2(2): a lookup that cannot leave its directory. Linux 5.6. No fallback, because a fallback would be a race: an
// older kernel gives ENOSYS, and the caller refuses.
#pragma once

#include <filesystem>
#include <string>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// Opens `relative` beneath `directory`: no symlink anywhere (ELOOP), no "..", absolute path or mount crossing (EXDEV).
// O_CLOEXEC is added. Returns -errno on failure, for loops that treat some errors as normal.
[[nodiscard]] int openat2_beneath(int directory, const char* relative, int flags) noexcept;
[[nodiscard]] Result<UniqueFd> open_beneath(int directory, const std::string& relative, int flags);

// The same across mounts, for a tree that was mounted together with its submounts.
[[nodiscard]] int openat2_within(int directory, const char* relative, int flags) noexcept;

// Opens a canonical absolute path as it stands: a symlink on the way, created after the path was resolved, gives ELOOP.
[[nodiscard]] Result<UniqueFd> open_exactly(const std::filesystem::path& canonical, int flags);

}  // namespace sallyport
