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
// `name` is relative to the directory descriptor, as openat(2) has it.
[[nodiscard]] Result<UniqueFd> open_path_at(int directory, const std::string& name, int flags, mode_t mode = 0);

// Everything from the current offset to the end; an InvalidRequest error as soon as it is more than `cap`.
[[nodiscard]] Result<std::string> read_all(int fd, ByteCount cap, std::string_view subject);
// For files of our own and of the kernel (/proc, /sys). Files somebody else made go through SandboxedPath (C27).
// A regular file, or EINVAL at once: a FIFO in its place does not hold us up (C35).
[[nodiscard]] Result<std::string> read_whole_file(const std::filesystem::path& path, ByteCount cap);
// What a person named in this very call, who may mean a pipe: `--key <(pass show key)`. It can wait for as long as they like.
[[nodiscard]] Result<std::string> read_named_file(const std::filesystem::path& path, ByteCount cap);

[[nodiscard]] Status write_all(int fd, std::string_view bytes, std::string_view subject);

// EFBIG when a file of ours may not grow to `end` bytes (ulimit -f), else 0. To be asked before a write: the kernel answers one
// past the limit with SIGXFSZ, which kills.
[[nodiscard]] int past_file_limit(std::uint64_t end);
[[nodiscard]] Status check_file_limit(std::uint64_t end, std::string_view subject);  // the same as an error

struct FileMode {
  mode_t bits = 0600;
  bool masked = false;  // less what the caller's umask takes away, as for every file a person asks for
};

// Afterwards the file holds either its old content or all of `bytes`, also after a power cut: the new file is written
// under another name in the same directory, synced, renamed over, and the directory is synced.
[[nodiscard]] Status replace_file_at(int directory, const std::string& name, std::string_view bytes, FileMode mode);
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                                           mode_t mode = 0600);

}  // namespace sallyport
