// How much memory is too much for the deeds of memory*.cc, and what they need to hold it.
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace sallyport::attacks {

inline constexpr std::size_t kMebibyte = 1U << 20U;
inline constexpr std::size_t kTooMuch = 256 * kMebibyte;  // the limit is 64 MiB
inline constexpr int kMostSockets = 900;                  // of one process; many hosts allow 1,024 descriptors

inline void more_descriptors() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace sallyport::attacks
