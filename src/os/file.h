// Opening, reading, writing and replacing files. Every descriptor is born CLOEXEC; EINTR is retried.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "sallyport/limits.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

[[nodiscard]] Result<UniqueFd> open_path(const std::filesystem::path& path, int flags, mode_t mode = 0);
// `name` is relative to the directory descriptor, as for openat(2).
[[nodiscard]] Result<UniqueFd> open_path_at(int directory, const std::string& name, int flags, mode_t mode = 0);

// Everything from the current offset to the end; an InvalidRequest error once it exceeds `cap`.
[[nodiscard]] Result<std::string> read_all(int fd, ByteCount cap, std::string_view subject);
// For files of our own and of the kernel (/proc, /sys). Untrusted files go through SandboxedPath (C27). It reads a
// regular file, or fails with EINVAL at once: a FIFO in its place cannot block us (C35).
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& path, ByteCount cap);
// For a file that the user names in this very call, which may be a pipe: `--key <(pass show key)`. It may block without
// limit.
[[nodiscard]] Result<std::string> read_named_file(const std::filesystem::path& path, ByteCount cap);

[[nodiscard]] Status write_all(int fd, std::string_view bytes, std::string_view subject);

// EFBIG when a file of ours may not grow to `end` bytes (ulimit -f), else 0. Call it before a write: the kernel answers
// a write past the limit with SIGXFSZ, which kills.
[[nodiscard]] int past_file_limit(std::uint64_t end);
[[nodiscard]] Status check_file_limit(std::uint64_t end, std::string_view subject);  // the same, as an error

struct FileMode {
  mode_t bits = 0600;
  bool masked = false;  // apply the caller's umask to the mode, as for every file that a user asks for
};

// Afterwards the file holds either its old content or all of `bytes`, even after a power cut: it writes a new file
// under another name in the same directory, syncs it, renames it over the old one, and syncs the directory.
[[nodiscard]] Status replace_file_at(int directory, const std::string& name, std::string_view bytes, FileMode mode);
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                                           mode_t mode = 0600);

}  // namespace sallyport
