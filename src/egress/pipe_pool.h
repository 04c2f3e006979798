// Pipes for splice(2), lent while bytes are in flight. An idle connection holds none.
#pragma once

#include <optional>
#include <vector>

#include "os/pipe.h"

namespace sallyport {

class PipePool {
 public:
  // When so many are lent, a connection copies instead: clients that never read must not use up our descriptors.
  static constexpr std::size_t kMostLent = 64;
  static constexpr std::size_t kMostIdle = 4;
  // Each of its slots holds a whole page run of a socket buffer, so more than this many bytes may fit.
  static constexpr std::size_t kCapacity = 256 * 1024;

  // nullopt: no pipe is available now.
  [[nodiscard]] std::optional<Pipe> take();
  // Empty pipes only.
  void give_back(Pipe pipe);
  // Call when a pipe with bytes left in it was thrown away.
  void lost() { --lent_; }

 private:
  std::vector<Pipe> idle_{};
  std::size_t lent_ = 0;
};

}  // namespace sallyport
