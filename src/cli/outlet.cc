#include "cli/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace sallyport::cli {

Outlet::Outlet(int fd) : fd_(fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return;  // the first write says why
  terminal_ = S_ISCHR(status.st_mode) && ::isatty(fd) == 1;
  if (S_ISFIFO(status.st_mode)) way_ = Way::kNoWait;
  if (S_ISSOCK(status.st_mode)) way_ = Way::kSocket;
  if (terminal_) way_ = open_again();
}

// Opens the file again, so that its flags are ours. Fails for another user's file.
Outlet::Way Outlet::open_again() {
  own_ = UniqueFd(::open(fmt::format("/proc/self/fd/{}", fd_).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return own_ ? Way::kOwnDescription : Way::kPoll;
}

ssize_t Outlet::write_some(std::string_view bytes) {
  switch (way_) {
    case Way::kPlain:
      return ::write(fd_, bytes.data(), bytes.size());
    case Way::kOwnDescription:
      return ::write(own_.get(), bytes.data(), bytes.size());
    case Way::kSocket:
      return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Way::kNoWait: {
      const iovec part{const_cast<char*>(bytes.data()), bytes.size()};  // iovec has no const; nothing is written to it
      const ssize_t written = ::pwritev2(fd_, &part, 1, -1, RWF_NOWAIT);
      if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)) return written;
      way_ = open_again();  // a kernel before 6.4
      return write_some(bytes);
    }
    case Way::kPoll:
      break;
  }
  pollfd watched{fd_, POLLOUT, 0};
  // An error condition is ready too: the write then says which.
  if (::poll(&watched, 1, 0) <= 0) {
    errno = EAGAIN;
    return -1;
  }
  // A pipe that polls writable takes PIPE_BUF bytes whole (pipe(7)); a terminal promises one.
  return ::write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), terminal_ ? 1 : PIPE_BUF));
}

int Outlet::write_all(std::string_view bytes, std::chrono::milliseconds patience, int stop_fd) {
  while (!bytes.empty()) {
    const ssize_t written = write_some(bytes);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    std::array<pollfd, 2> watched{pollfd{fd_, POLLOUT, 0}, pollfd{stop_fd, POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(patience.count()));
    if (ready < 0 && errno != EINTR) return errno;
    if (watched[1].revents != 0) return ECANCELED;
    if (ready == 0) return ETIMEDOUT;
  }
  return 0;
}

}  // namespace sallyport::cli
