// One HTTP/1.x request head (RFC 9112), read strictly: refuses what two readers could read in two ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport {

// Why a request, or a later part of its body, is refused.
enum class HttpFault : std::uint8_t {
  kNone,
  kNotARequest,  // the first line is none: probably another protocol
  kConnect,
  kHttp2,
  kUpgrade,
  kMalformedField,
  kBareCrOrLf,
  kHeadTooLarge,
  kNoHost,
  kTwoHosts,
  kMalformedHost,
  kAmbiguousLength,
  kBodyWithoutMeaning,
  kMalformedChunk,
  kMalformedTrailer,
};
// For the client: "malformed request line", "two hosts", …; empty for kNone.
[[nodiscard]] std::string_view text_of(HttpFault fault);

struct HttpHead {
  enum class Body { kNone, kLength, kChunked };
  HttpFault fault = HttpFault::kNone;
  std::string host{};      // as written, without its port
  std::uint16_t port = 0;  // 0 when not written
  Body body = Body::kNone;
  std::uint64_t length = 0;
  bool offers_h2c = false;
};

// What is wrong with the first line (without its CRLF). So a connection with another protocol can end before its head is
// complete.
[[nodiscard]] HttpFault fault_of_request_line(std::string_view line);
// `head` ends with its empty line, and has CR and LF in pairs only.
[[nodiscard]] HttpHead parse_http_head(std::string_view head);
// For a line of a trailer section that is not empty.
[[nodiscard]] bool is_harmless_trailer(std::string_view line);
// The head without its offer to change to HTTP/2. A server may always ignore that offer (RFC 9110, 7.8), so an
// intermediary may drop it; Java's client makes it in every first request.
[[nodiscard]] std::string without_h2c_offer(std::string_view head);

}  // namespace sallyport
