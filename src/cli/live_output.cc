#include "cli/live_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/errors.h"

namespace sallyport::cli {
namespace {

// How often a blocked write looks whether it should give up. Only a reader that does not read makes us get here.
constexpr int kTickMs = 50;

bool writable_now(int fd) {
  pollfd watched{fd, POLLOUT, 0};
  // An error condition is ready too: the write then says which.
  return poll(&watched, 1, 0) > 0;
}

}  // namespace

LiveOutput::LiveOutput(std::stop_source source, int stop_fd, std::chrono::milliseconds timeout)
    : source_(std::move(source)),
      stop_fd_(stop_fd),
      // The gate has checked nothing yet: keep an absurd timeout from overflowing the clock.
      deadline_(std::chrono::steady_clock::now() +
                std::clamp<std::chrono::milliseconds>(timeout, std::chrono::milliseconds(0), kLongestTimeout)),
      sinks_{sink_for(STDOUT_FILENO), sink_for(STDERR_FILENO)} {}

LiveOutput::Sink LiveOutput::sink_for(int fd) {
  struct stat status{};
  const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  // A pipe that polls writable takes PIPE_BUF bytes whole (pipe(7)).
  Sink sink{.fd = fd,
            .chunk = is_file ? std::numeric_limits<std::size_t>::max() : PIPE_BUF,
            .can_refuse = !is_file,
            .filter = {}};
  if (isatty(fd) == 1) sink.filter.emplace();
  return sink;
}

bool LiveOutput::reader_gone() const {
  const SystemError* const error = failure_ ? failure_->as<SystemError>() : nullptr;
  return error != nullptr && error->error_number == EPIPE;
}

void LiveOutput::pass_on(Stream stream, std::string_view bytes) {
  Sink& sink = sinks_[stream == Stream::kStdout ? 0 : 1];
  if (sink.broken) return;
  if (!sink.filter) return write(sink, bytes);
  write(sink, sink.filter->filter(bytes));
}

void LiveOutput::finish() {
  for (Sink& sink : sinks_) {
    if (sink.filter && !sink.broken) write(sink, sink.filter->finish());
  }
}

void LiveOutput::write(Sink& sink, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write_some(sink, bytes);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      if (!wait_writable(sink.fd)) return;
    } else if (errno != EINTR) {
      return fail_with(sink, errno);
    }
  }
}

// Never blocks. O_NONBLOCK is not for us to set: others share the open file.
ssize_t LiveOutput::write_some(Sink& sink, std::string_view bytes) const {
  if (sink.can_refuse) {
    const iovec part{const_cast<char*>(bytes.data()), bytes.size()};  // iovec has no const; nothing is written to it
    const ssize_t written = ::pwritev2(sink.fd, &part, 1, -1, RWF_NOWAIT);
    if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)) return written;
    sink.can_refuse = false;  // a terminal, or a kernel before 6.4
  }
  // As much as there is room for when poll(2) says that there is some.
  if (!writable_now(sink.fd)) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(sink.fd, bytes.data(), std::min(bytes.size(), sink.chunk));
}

bool LiveOutput::wait_writable(int fd) const {
  while (true) {
    std::array<pollfd, 2> watched{pollfd{fd, POLLOUT, 0}, pollfd{stop_fd_, POLLIN, 0}};
    // An error condition is ready too: the write then says which.
    if (poll(watched.data(), watched.size(), kTickMs) > 0 && watched[0].revents != 0) return true;
    if (watched[1].revents != 0 || source_.stop_requested() || std::chrono::steady_clock::now() >= deadline_)
      return false;
  }
}

void LiveOutput::fail_with(Sink& sink, int error_number) {
  sink.broken = true;
  if (sink.fd != STDOUT_FILENO) return;
  failure_ = system_error("write", "stdout", error_number);
  source_.request_stop();
}

}  // namespace sallyport::cli
