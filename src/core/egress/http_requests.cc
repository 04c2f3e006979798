#include "core/egress/http_requests.h"

#include <algorithm>
#include <charconv>

#include "core/egress/http_text.h"

namespace sallyport {
namespace {

// Sizes have a few digits; extensions are rare, and never long.
constexpr std::size_t kLongestChunkLine = 256;
constexpr std::size_t kLargestTrailers = 8 * 1024;

HttpRequests::Step need_more_http(std::size_t consumed) {
  return {.kind = HttpRequests::Step::Kind::kNeedMore, .consumed = consumed};
}
HttpRequests::Step body_bytes(std::size_t consumed) {
  return {.kind = HttpRequests::Step::Kind::kBody, .consumed = consumed};
}

}  // namespace

HttpRequests::Step HttpRequests::next(std::span<const std::uint8_t> bytes) {
  if (state_ == State::kRefused) return {.kind = Step::Kind::kRefused, .fault = fault_};
  if (head_done_) {
    head_.clear();
    head_done_ = false;
  }
  if (bytes.empty()) return need_more_http(0);
  switch (state_) {
    case State::kHead:
      return next_of_head(bytes);
    case State::kLength:
    case State::kChunkData: {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size()));
      skip(count);
      return body_bytes(count);
    }
    case State::kChunkSize:
    case State::kChunkEnd:
    case State::kTrailers:
      return next_of_line(bytes);
    case State::kRefused:
      break;
  }
  return refuse(HttpFault::kMalformedField);  // not reached
}

bool HttpRequests::between_requests() const { return state_ == State::kHead && (head_done_ || head_.empty()); }

std::uint64_t HttpRequests::opaque_bytes() const {
  return state_ == State::kLength || state_ == State::kChunkData ? remaining_ : 0;
}

void HttpRequests::skip(std::uint64_t count) {
  remaining_ -= std::min(count, opaque_bytes());
  if (remaining_ != 0) return;
  if (state_ == State::kLength) state_ = State::kHead;
  if (state_ == State::kChunkData) begin_line(State::kChunkEnd, 0);
}

HttpRequests::Step HttpRequests::refuse(HttpFault fault) {
  state_ = State::kRefused;
  fault_ = fault;
  head_ = {};
  line_ = {};
  return {.kind = Step::Kind::kRefused, .fault = fault};
}

HttpRequests::Step HttpRequests::next_of_head(std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = static_cast<char>(bytes[i]);
    const bool after_cr = head_.ends_with('\r');
    if (after_cr != (c == '\n')) return refuse(HttpFault::kBareCrOrLf);
    if (c != '\r' && c != '\n' && !is_line_char(c)) return refuse(HttpFault::kMalformedField);
    if (head_.size() == kLargestHttpHead) return refuse(HttpFault::kHeadTooLarge);
    head_.push_back(c);
    if (c != '\n') continue;
    if (!request_line_read_) {
      request_line_read_ = true;
      const HttpFault fault = fault_of_request_line(std::string_view(head_).substr(0, head_.size() - 2));
      if (fault != HttpFault::kNone) return refuse(fault);
    }
    if (head_.ends_with("\r\n\r\n")) return end_of_head(i + 1);
  }
  return need_more_http(bytes.size());
}

HttpRequests::Step HttpRequests::end_of_head(std::size_t consumed) {
  HttpHead parsed = parse_http_head(head_);
  if (parsed.fault != HttpFault::kNone) return refuse(parsed.fault);
  if (parsed.offers_h2c) head_ = without_h2c_offer(head_);
  head_done_ = true;
  request_line_read_ = false;
  remaining_ = parsed.length;
  if (parsed.body == HttpHead::Body::kLength) state_ = State::kLength;
  if (parsed.body == HttpHead::Body::kChunked) begin_line(State::kChunkSize, kLongestChunkLine);
  return {.kind = Step::Kind::kHead, .consumed = consumed, .host = std::move(parsed.host), .port = parsed.port};
}

void HttpRequests::begin_line(State state, std::size_t line_limit) {
  state_ = state;
  line_limit_ = line_limit;
  line_.clear();
}

// Passes on the bytes of a line as they come: no server acts on a line before its end, and the end of a refused line is
// held back. The bytes before the offending byte go first, so the result does not depend on the pieces.
HttpRequests::Step HttpRequests::next_of_line(std::span<const std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = static_cast<char>(bytes[i]);
    HttpFault fault = HttpFault::kNone;
    if (line_.ends_with('\r') != (c == '\n')) {
      fault = HttpFault::kBareCrOrLf;
    } else if (c == '\n') {
      fault = fault_of_line(std::string_view(line_).substr(0, line_.size() - 1));
      if (fault == HttpFault::kNone) {
        end_of_line();
        return body_bytes(i + 1);
      }
    } else if (c != '\r' && (line_.size() == line_limit_ || !is_line_char(c))) {
      fault = HttpFault::kMalformedChunk;
    }
    if (fault != HttpFault::kNone) return i == 0 ? refuse(fault) : body_bytes(i);
    line_.push_back(c);
  }
  return body_bytes(bytes.size());
}

HttpFault HttpRequests::fault_of_line(std::string_view line) const {
  if (state_ == State::kTrailers) {
    return line.empty() || is_harmless_trailer(line) ? HttpFault::kNone : HttpFault::kMalformedTrailer;
  }
  if (state_ == State::kChunkEnd) return HttpFault::kNone;  // its limit has let nothing in
  return parse_chunk_size(line) ? HttpFault::kNone : HttpFault::kMalformedChunk;
}

std::optional<std::uint64_t> HttpRequests::parse_chunk_size(std::string_view line) {
  std::uint64_t size = 0;
  const std::string_view digits = line.substr(0, line.find(';'));
  const char* const end = digits.data() + digits.size();
  const auto [after, error] = std::from_chars(digits.data(), end, size, 16);
  const bool plain = error == std::errc{} && after == end && is_ascii_alnum(digits[0]) && size <= INT64_MAX;
  return plain ? std::optional(size) : std::nullopt;
}

void HttpRequests::end_of_line() {
  const std::string_view line = std::string_view(line_).substr(0, line_.size() - 1);
  switch (state_) {
    case State::kChunkSize:
      remaining_ = parse_chunk_size(line).value_or(0);
      if (remaining_ == 0) return begin_line(State::kTrailers, kLargestTrailers);
      state_ = State::kChunkData;
      return;
    case State::kChunkEnd:
      return begin_line(State::kChunkSize, kLongestChunkLine);
    case State::kTrailers:
      // The limit is for the whole section.
      if (!line.empty()) return begin_line(State::kTrailers, line_limit_ - line.size());
      state_ = State::kHead;
      return;
    case State::kHead:
    case State::kLength:
    case State::kChunkData:
    case State::kRefused:
      return;
  }
}

}  // namespace sallyport
