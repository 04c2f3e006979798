#include "cli/live_output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/console.h"
#include "core/errors.h"

namespace sallyport::cli {
namespace {

// How often a wait at the end checks whether to give up.
constexpr int kTickMs = 50;

}  // namespace

LiveOutput::Sink::Sink(int fd, bool in_build_log) : outlet(fd) {
  if (outlet.is_terminal()) terminal.emplace();
  if (in_build_log) build_log.emplace();
}

LiveOutput::LiveOutput(std::stop_source source, const Options& options)
    : source_(std::move(source)),
      stop_fd_(options.stop_fd),
      // The gate has checked nothing yet: keep an absurd timeout from overflowing the clock.
      deadline_(std::chrono::steady_clock::now() +
                std::clamp<std::chrono::milliseconds>(options.timeout, std::chrono::milliseconds(0), kLongestTimeout)),
      sinks_{Sink(STDOUT_FILENO, options.in_build_log), Sink(STDERR_FILENO, options.in_build_log)} {}

bool LiveOutput::reader_gone() const {
  const SystemError* const error = failure_ ? failure_->as<SystemError>() : nullptr;
  return error != nullptr && error->error_number == EPIPE;
}

void LiveOutput::pass_on(Stream stream, std::string_view bytes) {
  Sink& to = sink(stream);
  if (to.broken || bytes.empty()) return;
  if (!to.terminal) return pass_filtered(to, bytes);
  const std::string safe = to.terminal->filter(bytes);
  if (!safe.empty()) note_terminal_text(safe.back());
  pass_filtered(to, safe);
}

void LiveOutput::pass_filtered(Sink& to, std::string_view bytes) {
  std::string plain;
  if (to.build_log) bytes = plain = to.build_log->filter(bytes);
  flush(to);
  if (to.waiting.empty()) bytes.remove_prefix(write(to, bytes));
  if (!to.broken) to.waiting += bytes;
}

int LiveOutput::waits_for(Stream stream) {
  Sink& to = sink(stream);
  flush(to);
  return to.waiting.empty() ? -1 : to.outlet.fd();
}

void LiveOutput::finish() {
  for (Sink& to : sinks_) {
    if (to.terminal && !to.broken) pass_filtered(to, to.terminal->finish());
  }
  for (Sink& to : sinks_) {
    flush(to);
    while (!to.waiting.empty() && wait_writable(to)) flush(to);
  }
}

// Returns how much the reader took.
std::size_t LiveOutput::write(Sink& to, std::string_view bytes) {
  std::size_t total = 0;
  while (total < bytes.size()) {
    const ssize_t written = to.outlet.write_some(bytes.substr(total));
    if (written >= 0) {
      total += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      fail_with(to, errno);
      break;
    }
  }
  return total;
}

void LiveOutput::flush(Sink& to) {
  if (!to.waiting.empty()) to.waiting.erase(0, write(to, to.waiting));
}

bool LiveOutput::wait_writable(const Sink& to) const {
  while (true) {
    if (source_.stop_requested() || std::chrono::steady_clock::now() >= deadline_) return false;
    std::array<pollfd, 2> watched{pollfd{to.outlet.fd(), POLLOUT, 0}, pollfd{stop_fd_, POLLIN, 0}};
    const int ready = poll(watched.data(), watched.size(), kTickMs);
    if (ready > 0 && watched[1].revents != 0) return false;
    // An error condition is ready too: the write then says which.
    if (ready > 0) return true;
  }
}

void LiveOutput::fail_with(Sink& to, int error_number) {
  to.broken = true;
  to.waiting.clear();
  if (to.outlet.fd() != STDOUT_FILENO) return;
  failure_ = system_error("write", "stdout", error_number);
  source_.request_stop();
}

}  // namespace sallyport::cli
