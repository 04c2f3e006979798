#include "sallyport/unique_fd.h"

#include <unistd.h>

namespace sallyport {

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace sallyport
