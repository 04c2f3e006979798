#include "cli/stop_on_signal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <system_error>
#include <utility>

#include "cli/exit_code.h"
#include "core/errors.h"

namespace sallyport::cli {
namespace {

// The gate needs about 100 ms to end a tree. An impatient second Ctrl-C within that time must not make us leave
// before it is done; one after it means that something is stuck.
constexpr std::chrono::seconds kPatience{2};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

}  // namespace

Result<std::unique_ptr<StopOnSignal>> StopOnSignal::start(std::stop_source source) {
  const sigset_t set = stop_signals();
  if (const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return fail(system_error("block signals", "", error));
  }
  UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail(system_error("watch signals", "", errno));
  EventFd finished = TRY(EventFd::create());
  try {
    return std::make_unique<StopOnSignal>(std::move(source), std::move(signals), std::move(finished));
  } catch (const std::system_error& error) {  // the only way std::thread has to say no
    return fail(
        system_error("start a thread", "", error.code().value(), "is the user at its process limit (ulimit -u)?"));
  }
}

StopOnSignal::StopOnSignal(std::stop_source source, UniqueFd signals, EventFd finished)
    : source_(std::move(source)),
      signals_(std::move(signals)),
      finished_(std::move(finished)),
      thread_([this] { watch(); }) {}

StopOnSignal::~StopOnSignal() {
  finished_.signal();
  thread_.join();
}

void StopOnSignal::watch() {
  std::chrono::steady_clock::time_point first_at;
  while (true) {
    std::array<pollfd, 2> fds{pollfd{signals_.get(), POLLIN, 0}, pollfd{finished_.fd(), POLLIN, 0}};
    if (poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (read(signals_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    const int number = static_cast<int>(info.ssi_signo);
    const auto now = std::chrono::steady_clock::now();
    if (received_.load() == 0) {
      first_at = now;
      received_.store(number);
      source_.request_stop();
    } else if (now - first_at > kPatience) {
      _exit(exit_code_of_signal(number));
    }
  }
}

}  // namespace sallyport::cli
