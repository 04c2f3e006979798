// The last words to a client. Closing with unread bytes is a reset, which may overtake them: so the client's bytes are read, and
// dropped, until it has had its time to read ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sallyport {

class Farewell {
 public:
  enum class State {
    kWaiting,
    kClosed,  // the client has ended, too
    kReset,   // it is gone, or sends on and on
  };

  void say(std::string text) { text_ = std::move(text); }
  // Goes as far as it can. `scratch` holds nothing afterwards.
  [[nodiscard]] State advance(int client, std::span<std::uint8_t> scratch);

 private:
  std::string text_{};
  std::size_t written_ = 0;
  std::size_t drained_ = 0;
};

}  // namespace sallyport
