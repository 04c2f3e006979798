// Sends a last message to a client. Closing with unread bytes sends a reset, which may overtake the message: so we read
// and drop the client's bytes until it has had time to read ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sallyport {

class Farewell {
 public:
  enum class State {
    kWaiting,
    kClosed,  // the client has closed, too
    kReset,   // it is gone, or does not stop sending
  };

  void say(std::string text) { text_ = std::move(text); }
  // Goes as far as it can. `scratch` is free again afterwards.
  [[nodiscard]] State advance(int client, std::span<std::uint8_t> scratch);

 private:
  std::string text_{};
  std::size_t written_ = 0;
  std::size_t drained_ = 0;
};

}  // namespace sallyport
