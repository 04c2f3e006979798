// Follows the requests of one HTTP/1.x connection, so that every request's Host is checked, not only the first one's.
// It is strict: it refuses a request that a lenient reader and a lenient server could read differently (request
// smuggling).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/egress/http_head.h"

namespace sallyport {

inline constexpr std::size_t kLargestHttpHead = 64 * 1024;

// A state machine fed with the client's bytes in order. It never holds more than one head.
class HttpRequests {
 public:
  struct Step {
    enum class Kind {
      kNeedMore,  // all bytes consumed, inside a head: hold them back
      kHead,      // a head is complete: check `host`, then pass head_bytes on
      kBody,      // `consumed` bytes of a checked request's body: pass them on
      kRefused,   // `fault`; the connection must end
    };
    Kind kind = Kind::kNeedMore;
    std::size_t consumed = 0;  // of the span given to next()
    std::string host{};        // of kHead: Host's value without its port; an absolute-form target agrees with it
    std::uint16_t port = 0;    // of kHead: 0 when not written
    HttpFault fault = HttpFault::kNone;  // of kRefused
  };

  // Call until it consumes nothing. On kHead, head() holds the head to pass on until the next call: as it came, or
  // without an offer to change to HTTP/2 in the clear ("Upgrade: h2c"). It refuses every other upgrade, a body on GET,
  // HEAD and TRACE, white space where RFC 9112 has none, and lines that do not end in CRLF. A refusal is final. What it
  // passes on and refuses does not depend on how the bytes are cut into spans.
  [[nodiscard]] Step next(std::span<const std::uint8_t> bytes);
  [[nodiscard]] std::string_view head() const { return head_; }
  // True when every request seen so far is complete.
  [[nodiscard]] bool between_requests() const;
  // How many bytes of a body, or of its current chunk, follow before we must read again; the caller may splice them
  // unread. Never infinite: a request's length is always known.
  [[nodiscard]] std::uint64_t opaque_bytes() const;
  // Call when the caller has moved `count` opaque bytes itself.
  void skip(std::uint64_t count);

 private:
  enum class State { kHead, kLength, kChunkSize, kChunkData, kChunkEnd, kTrailers, kRefused };

  Step refuse(HttpFault fault);
  Step next_of_head(std::span<const std::uint8_t> bytes);
  Step end_of_head(std::size_t consumed);
  Step next_of_line(std::span<const std::uint8_t> bytes);
  void begin_line(State state, std::size_t line_limit);
  void end_of_line();
  [[nodiscard]] HttpFault fault_of_line(std::string_view line) const;
  [[nodiscard]] static std::optional<std::uint64_t> parse_chunk_size(std::string_view line);

  State state_ = State::kHead;
  std::string head_{};
  bool head_done_ = false;          // head_ is a whole one, kept for the caller until the next call
  bool request_line_read_ = false;  // of the head that is being read
  std::string line_{};              // of a chunked body: a chunk's first line, or a trailer
  std::size_t line_limit_ = 0;
  std::uint64_t remaining_ = 0;  // of a body with a length, or of a chunk
  HttpFault fault_ = HttpFault::kNone;
};

}  // namespace sallyport
