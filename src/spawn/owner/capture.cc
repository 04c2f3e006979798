#include "spawn/owner/capture.h"

#include <unistd.h>

#include <cerrno>
#include <span>
#include <utility>

#include "os/pipe.h"

namespace sallyport::spawn {

std::span<char> Capture::room() {
  if (stage_) return {stage_.get(), kBusyPipeCapacity};
  return ring_.writable();
}

void Capture::keep(std::span<const char> taken) {
  if (stage_) return ring_.append({taken.data(), taken.size()});
  ring_.commit(taken.size());
  if (ring_.total() < kDefaultPipeCapacity) return;
  stage_ = std::make_unique_for_overwrite<char[]>(kBusyPipeCapacity);
  grow_pipe(pipe_.get(), kBusyPipeCapacity);
}

void Capture::drain(const OutputTap& tap, std::size_t budget) {
  std::size_t taken = 0;
  while (pipe_ && taken < budget) {
    const std::span<char> space = room();
    const ssize_t size = ::read(pipe_.get(), space.data(), space.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      if (size < 0) error_ = errno;
      pipe_.reset();
      return;
    }
    const std::span<const char> bytes = space.first(static_cast<std::size_t>(size));
    if (tap) tap(stream_, {bytes.data(), bytes.size()});
    keep(bytes);
    taken += bytes.size();
  }
}

}  // namespace sallyport::spawn
