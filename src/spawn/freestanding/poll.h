// Waits for descriptors without a libc, with calls that every processor has.
#pragma once

#include <linux/time_types.h>
#include <sys/epoll.h>
#include <sys/poll.h>

#include "spawn/freestanding/sys.h"

namespace sallyport::spawn::helper {

// poll(2) without a timeout.
inline long poll_until_ready(struct pollfd* watched, long count) { return sys(__NR_ppoll, watched, count, 0L, 0L, 0L); }

// poll(2) that does not wait.
inline long poll_now(struct pollfd* watched, long count) {
  struct __kernel_timespec no_time = {0, 0};
  return sys(__NR_ppoll, watched, count, &no_time, 0L, 0L);
}

// poll(2) for less than a minute.
inline long poll_for(struct pollfd* watched, long count, long milliseconds) {
  struct __kernel_timespec time = {milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  return sys(__NR_ppoll, watched, count, &time, 0L, 0L);
}

// By CLOCK_MONOTONIC, which nobody can set.
inline long now_ms() {
  constexpr long kMonotonic = 1;  // CLOCK_MONOTONIC
  struct __kernel_timespec now = {};
  sys(__NR_clock_gettime, kMonotonic, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

constexpr long kNoTimeLimit = -1;

inline long epoll_until(long epoll, struct epoll_event* events, long room, long milliseconds) {
  return sys(__NR_epoll_pwait, epoll, events, room, milliseconds, 0L, 0L);
}

}  // namespace sallyport::spawn::helper
