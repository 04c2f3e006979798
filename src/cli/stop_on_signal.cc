#include "cli/stop_on_signal.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "cli/exit_code.h"
#include "core/errors.h"

namespace sallyport::cli {
namespace {

// The gate needs about 100 ms to kill a tree. A second Ctrl-C within that time must not make us exit early; a later one
// means that something is stuck.
constexpr time_t kPatienceSeconds = 2;

// A signal handler cannot pass it in another way.
std::atomic<int> first_signal{0};
std::atomic<time_t> first_at{0};
std::atomic<int> event_fd{-1};

time_t now_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

// Calls only what signal-safety(7) allows.
void note_signal(int number) {
  const int saved_errno = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    first_at.store(now_seconds());
    const std::uint64_t one = 1;
    static_cast<void>(!::write(event_fd.load(), &one, sizeof one));
  } else if (now_seconds() - first_at.load() > kPatienceSeconds) {
    ::_exit(exit_code_of_signal(number));
  }
  errno = saved_errno;
}

}  // namespace

Result<StopOnSignal> StopOnSignal::start() {
  StopOnSignal stop(TRY(EventFd::create()));
  event_fd.store(stop.fd());
  struct sigaction action{};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  ::sigfillset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) != 0) return fail(system_error("watch signals", "", errno));
    // nohup and a shell's background jobs set this.
    if (before.sa_handler == SIG_IGN) continue;
    if (::sigaction(number, &action, nullptr) != 0) return fail(system_error("watch signals", "", errno));
  }
  return stop;
}

int StopOnSignal::received() const { return first_signal.load(); }

}  // namespace sallyport::cli
