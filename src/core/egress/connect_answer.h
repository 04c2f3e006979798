// What a proxy says to a CONNECT (RFC 9110, 9.3.6). No sockets here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// More than any proxy says before it says yes or no.
inline constexpr std::size_t kLargestConnectAnswer = 16 * 1024;

struct ConnectAnswer {
  enum class Kind {
    kNeedMore,
    kOpen,     // `size` bytes are the proxy's; the host's follow
    kRefused,  // `why`
  };
  Kind kind = Kind::kNeedMore;
  std::size_t size = 0;
  std::string why{};
};

// `bytes` is everything that came so far. How they were cut makes no difference; of them at most kLargestConnectAnswer are read.
[[nodiscard]] ConnectAnswer parse_connect_answer(std::string_view bytes);

}  // namespace sallyport
