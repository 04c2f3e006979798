// Turns the kernel's own refusals (os/netlink.h) into denials.
#pragma once

#include "egress/run.h"

namespace sallyport {

class RefusalWatch final : public Watcher {
 public:
  explicit RefusalWatch(EgressRun& run) : run_(run) {}
  [[nodiscard]] Status serve_on(UniqueFd netlink);
  void ready(int fd, std::uint32_t events) override;
  // The kernel reports a refusal before the refused call returns: so all refusals of a dead tool can be read here.
  void close_all();

 private:
  // Returns false when there is nothing more to read.
  bool read_one();

  EgressRun& run_;
  UniqueFd netlink_{};
  Watch watch_{};
};

}  // namespace sallyport
