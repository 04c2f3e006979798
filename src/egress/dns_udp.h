// DNS over UDP. The answer leaves from the address that the tool asked: it may ask 8.8.8.8, and checks the sender.
#pragma once

#include <vector>

#include "egress/run.h"

namespace sallyport {

class DnsUdp final : public Watcher {
 public:
  explicit DnsUdp(EgressRun& run) : run_(run) {}
  [[nodiscard]] Status serve_on(UniqueFd socket);
  void ready(int fd, std::uint32_t events) override;
  void close_all();

 private:
  struct Socket {
    UniqueFd fd{};
    Watch watch{};
  };
  [[nodiscard]] bool answer_one(int fd);

  EgressRun& run_;
  std::vector<Socket> sockets_{};
};

}  // namespace sallyport
