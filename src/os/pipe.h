// A pipe with both ends CLOEXEC.
#pragma once

#include <cstddef>
#include <optional>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

struct PipeOptions {
  // A hint: an unprivileged user may not exceed /proc/sys/fs/pipe-max-size, and then keeps the default 64 KiB.
  std::optional<std::size_t> capacity{};
};

[[nodiscard]] Result<Pipe> make_pipe(PipeOptions options = {});

// F_SETPIPE_SZ on either end. A hint, as above: if the kernel refuses, the pipe stays as it is.
void grow_pipe(int fd, std::size_t capacity);

// O_NONBLOCK belongs to the open file description: never set it on an end that a child shares with us.
[[nodiscard]] Status set_nonblocking(int fd);

}  // namespace sallyport
