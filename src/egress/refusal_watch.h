// What the kernel refuses by itself (os/netlink.h) becomes a denial like any other.
#pragma once

#include "egress/run.h"

namespace sallyport {

class RefusalWatch final : public Watcher {
 public:
  explicit RefusalWatch(EgressRun& run) : run_(run) {}
  [[nodiscard]] Status serve_on(UniqueFd netlink);
  void ready(int fd, std::uint32_t events) override;
  // The kernel shows a refusal before the refused call returns: what a dead tool was refused is there to be read.
  void close_all();

 private:
  // Returns false when there is nothing more to read.
  bool read_one();

  EgressRun& run_;
  UniqueFd netlink_{};
  Watch watch_{};
};

}  // namespace sallyport
