#include "spawn/helper/own_facts.h"

#include <sys/vfs.h>

#include "spawn/freestanding/sys.h"

namespace sallyport::spawn::helper {

std::uint64_t read_oom_kills(int fd) {
  static char piece[4096];
  OomKills kills;
  for (long at = 0;;) {
    const long got = sys(__NR_pread64, long{fd}, piece, long{sizeof piece}, at);
    if (got <= 0) return kills.count();
    kills.add(piece, static_cast<std::size_t>(got));
    at += got;
  }
}

bool measure_use(int fd, FileSystemUse& use) {
  struct statfs found = {};
  if (sys(__NR_fstatfs, long{fd}, &found) < 0) return false;
  const auto block = static_cast<std::uint64_t>(found.f_bsize);
  use.size = static_cast<std::uint64_t>(found.f_blocks) * block;
  use.bytes = static_cast<std::uint64_t>(found.f_blocks - found.f_bfree) * block;
  use.files = static_cast<std::uint64_t>(found.f_files - found.f_ffree);
  use.no_byte_left = found.f_bfree == 0;
  use.no_file_left = found.f_ffree == 0;
  return true;
}

}  // namespace sallyport::spawn::helper
