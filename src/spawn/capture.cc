#include "spawn/capture.h"

#include <unistd.h>

#include <cerrno>
#include <span>
#include <utility>

#include "os/pipe.h"

namespace sallyport::spawn {

void Capture::drain(const OutputTap& tap, std::size_t budget) {
  std::size_t taken = 0;
  while (pipe_ && taken < budget) {
    const std::span<char> space = ring_.writable();
    const ssize_t size = ::read(pipe_.get(), space.data(), space.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      pipe_.reset();
      return;
    }
    if (tap) tap(stream_, {space.data(), static_cast<std::size_t>(size)});
    ring_.commit(static_cast<std::size_t>(size));
    taken += static_cast<std::size_t>(size);
    if (static_cast<std::size_t>(size) >= kDefaultPipeCapacity && !std::exchange(grown_, true)) {
      grow_pipe(pipe_.get(), kBusyPipeCapacity);
    }
  }
}

}  // namespace sallyport::spawn
