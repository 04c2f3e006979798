// One HTTP/1.x request head (RFC 9112), read strictly: what two readers could read in two ways is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport {

struct HttpHead {
  enum class Body { kNone, kLength, kChunked };
  std::string_view why{};  // not empty: refused
  std::string host{};      // as written, without its port
  std::uint16_t port = 0;  // 0 when not written
  Body body = Body::kNone;
  std::uint64_t length = 0;
  bool offers_h2c = false;
};

// The first line, without its CRLF: why it is refused, or nothing. Lets a connection that speaks something else end
// before its head does.
[[nodiscard]] std::string_view why_not_request_line(std::string_view line);
// `head` ends with its empty line, and has CR and LF in pairs only.
[[nodiscard]] HttpHead parse_http_head(std::string_view head);
// A trailer section's line that is not empty.
[[nodiscard]] bool is_harmless_trailer(std::string_view line);
// The head without its offer to change to HTTP/2, which a server may always overlook (RFC 9110, 7.8) and an
// intermediary may leave out: Java's client makes it on every first request.
[[nodiscard]] std::string without_h2c_offer(std::string_view head);

}  // namespace sallyport
