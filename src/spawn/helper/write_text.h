// A file of the kernel's that is set by writing a text to it.
#pragma once

#include <fcntl.h>

#include "spawn/freestanding/sys.h"

namespace sallyport::spawn::helper {

// Relative to `directory`, or to the working directory when that is AT_FDCWD. A negative errno when it fails.
inline long write_text(long directory, const char* path, const char* text, std::size_t size) {
  const long fd = sys(__NR_openat, directory, path, long{O_WRONLY | O_CLOEXEC}, 0L);
  if (fd < 0) return fd;
  const long written = sys(__NR_write, fd, text, static_cast<long>(size));
  sys(__NR_close, fd);
  return written;
}

}  // namespace sallyport::spawn::helper
