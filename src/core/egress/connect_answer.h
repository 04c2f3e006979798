// A proxy's answer to a CONNECT (RFC 9110, 9.3.6). No sockets here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sallyport {

// No proxy sends more before it decides.
inline constexpr std::size_t kLargestConnectAnswer = 16 * 1024;

struct ConnectAnswer {
  enum class Kind {
    kNeedMore,
    kOpen,     // the first `size` bytes are the proxy's; the host's follow
    kRefused,  // `why`
  };
  Kind kind = Kind::kNeedMore;
  std::size_t size = 0;
  std::string why{};
};

// `bytes` is everything received so far, in whatever pieces; it reads at most kLargestConnectAnswer of them.
[[nodiscard]] ConnectAnswer parse_connect_answer(std::string_view bytes);

}  // namespace sallyport
