// Checks a file of the jail that must hold what the owner wants: a limit that another program has set. In a header,
// because what runs between clone and exec refers to no other object (approved_symbols.txt).
#pragma once

#include <fcntl.h>

#include "spawn/helper/run.h"

namespace sallyport::spawn::helper {

inline long open_either(const char* first, const char* second) {
  const long flags = long{O_RDONLY | O_CLOEXEC};
  const long fd = sys(__NR_openat, long{AT_FDCWD}, first, flags, 0L);
  return fd == -2 ? sys(__NR_openat, long{AT_FDCWD}, second, flags, 0L) : fd;  // ENOENT
}

// 0 when the file starts with the op's content (OpKind::kCheckText); else a negative errno.
inline long check_text(const Run& run, const wire::Op& op) {
  const long fd = open_either(run.at(op.source), run.at(op.target));
  if (fd < 0) return fd;
  char text[64];
  const long got = sys(__NR_read, fd, text, long{sizeof text});
  sys(__NR_close, fd);
  if (got < 0) return got;
  const char* const wanted = run.at(op.content);
  if (static_cast<std::uint32_t>(got) < op.content_size) return -34;  // ERANGE
  for (std::uint32_t i = 0; i < op.content_size; ++i) {
    if (text[i] != wanted[i]) return -34;
  }
  return 0;
}

}  // namespace sallyport::spawn::helper
