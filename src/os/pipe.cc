#include "os/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/errors.h"

namespace sallyport {

Result<Pipe> make_pipe(PipeOptions options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(system_error("create", "a pipe", errno,
                             "too many files are open; raise the limit with 'ulimit -n' or run less at once"));
  }
  Pipe made{.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
  if (options.capacity) grow_pipe(made.write_end.get(), *options.capacity);
  return made;
}

void grow_pipe(int fd, std::size_t capacity) {
  // EPERM above pipe-max-size or the user's pipe-user-pages-soft: the pipe is slower, but correct.
  static_cast<void>(::fcntl(fd, F_SETPIPE_SZ, static_cast<int>(capacity)));
}

Status set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return fail(system_error("make non-blocking", "a descriptor", errno));
  }
  return {};
}

}  // namespace sallyport
