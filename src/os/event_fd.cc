#include "os/event_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "core/errors.h"

namespace sallyport {

Result<EventFd> EventFd::create() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return fail(system_error("create", "an eventfd", errno));
  return EventFd(UniqueFd(fd));
}

void EventFd::signal() const noexcept {
  const std::uint64_t one = 1;
  // EAGAIN only when 2^64 - 2 wake-ups are pending: then it is readable already, which is enough.
  while (::write(fd_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

std::uint64_t EventFd::drain() const noexcept {
  std::uint64_t signals = 0;
  ssize_t got = -1;
  do {
    got = ::read(fd_.get(), &signals, sizeof signals);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof signals) ? signals : 0;
}

}  // namespace sallyport
