#include "egress/pipe_pool.h"

namespace sallyport {

std::optional<Pipe> PipePool::take() {
  if (lent_ >= kMostLent) return std::nullopt;
  if (idle_.empty()) {
    Result<Pipe> made = make_pipe({.capacity = kCapacity});
    if (!made) return std::nullopt;
    idle_.push_back(std::move(*made));
  }
  Pipe pipe = std::move(idle_.back());
  idle_.pop_back();
  ++lent_;
  return pipe;
}

void PipePool::give_back(Pipe pipe) {
  --lent_;
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(pipe));
}

}  // namespace sallyport
