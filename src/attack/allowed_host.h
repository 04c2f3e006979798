// The one host an attack on egress may reach: it answers any bytes, and records them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport::attack {

inline constexpr std::string_view kAllowedName = "allowed.test";

class AllowedHost {
 public:
  [[nodiscard]] static Result<std::unique_ptr<AllowedHost>> open();
  AllowedHost(UniqueFd listener, std::uint16_t port);

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // True when it received `word`. Waits until its connections have ended, so that nothing is still under way.
  [[nodiscard]] bool was_told(std::string_view word) const;

 private:
  void listen(const std::stop_token& stop);
  void hear_out(int fd, const std::stop_token& stop);

  UniqueFd listener_;
  std::uint16_t port_;
  mutable std::mutex mutex_;
  std::string heard_;
  std::atomic<int> open_ = 0;
  std::jthread thread_;
};

}  // namespace sallyport::attack
