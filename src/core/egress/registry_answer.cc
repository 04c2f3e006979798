#include "core/egress/registry_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/egress/http_text.h"

namespace sallyport {
namespace {

constexpr std::size_t kLargestAnswerHead = 64 * 1024;
constexpr std::size_t kLongestAnswerLine = 256;
constexpr std::size_t kLargestAnswerTrailers = 8 * 1024;
constexpr std::string_view kEndOfAnswerHead = "\r\n\r\n";
constexpr int kSwitchingProtocols = 101;

// The fields of an answer that a package manager reads. Not Set-Cookie: a session that the credentials opened is as
// good as the credentials.
bool is_passed(const Field& field) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"age", "cache-control", "content-disposition", "content-type", "date", "etag", "expires", "last-modified",
       "npm-notice", "retry-after", "vary", "warning", "www-authenticate"});
  return std::ranges::any_of(kNames, [&](std::string_view name) { return names_field(field, name); });
}

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value, base);
  const bool plain = error == std::errc{} && after == end && value <= INT64_MAX;
  return plain ? std::optional(value) : std::nullopt;
}

}  // namespace

RegistryAnswer::State RegistryAnswer::broken(std::string_view why) {
  why_ = why;
  return State::kBroken;
}

RegistryAnswer::State RegistryAnswer::feed(std::string_view bytes, std::string& out) {
  if (body_ == Body::kHead) {
    const State state = feed_head(bytes, out);
    if (state != State::kMore || body_ == Body::kHead) return state;
  }
  switch (body_) {
    case Body::kHead:
    case Body::kNone:
      return State::kDone;
    case Body::kLength:
      return feed_length(bytes, out);
    case Body::kChunked:
      return feed_chunked(bytes, out);
    case Body::kToEnd:
      return pass(bytes, out);
  }
  return State::kDone;
}

RegistryAnswer::State RegistryAnswer::end(std::string& out) {
  switch (body_) {
    case Body::kHead:
      return broken("it ends within its head");
    case Body::kNone:
      return State::kDone;
    case Body::kLength:
    case Body::kChunked:
      return broken("it ends within its body");
    case Body::kToEnd:
      return finish(out);
  }
  return State::kDone;
}

// Afterwards `bytes` is what follows the head.
RegistryAnswer::State RegistryAnswer::feed_head(std::string_view& bytes, std::string& out) {
  while (body_ == Body::kHead) {
    const std::size_t before = head_.size();
    head_.append(bytes.substr(0, kLargestAnswerHead - before));
    const std::size_t end =
        head_.find(kEndOfAnswerHead, before < kEndOfAnswerHead.size() ? 0 : before - kEndOfAnswerHead.size());
    if (end == std::string::npos)
      return head_.size() == kLargestAnswerHead ? broken("its head is too large") : State::kMore;
    const std::size_t size = end + kEndOfAnswerHead.size();
    bytes.remove_prefix(size - before);
    head_.resize(size);
    if (const State state = read_head(out); state != State::kMore) return state;
    head_.clear();  // another answer follows an interim one (1xx)
  }
  return State::kMore;
}

RegistryAnswer::State RegistryAnswer::read_head(std::string& out) {
  std::string_view rest = head_;
  const int status = status_in(take_line(rest));
  if (status == 0) return broken("it is no HTTP/1.1");
  if (status == kSwitchingProtocols) return broken("it changes the protocol");
  const bool interim = status < 200;
  std::string kept = fmt::format("HTTP/1.1 {} registry\r\nConnection: close\r\n", status);
  length_.reset();
  chunked_ = false;
  for (std::string_view line = take_line(rest); !line.empty(); line = take_line(rest)) {
    if (const std::string_view why = read_field(line, kept); !why.empty()) return broken(why);
  }
  if (interim) return State::kMore;
  if (const std::string_view why = settle_body(status); !why.empty()) return broken(why);
  if (length_ && !chunked_) kept += fmt::format("Content-Length: {}\r\n", *length_);
  out.append(kept).append("\r\n");
  return body_ == Body::kNone ? State::kDone : State::kMore;
}

// Why the answer cannot be passed on; empty when it can.
std::string_view RegistryAnswer::read_field(std::string_view line, std::string& kept) {
  const std::optional<Field> field = parse_field(line);
  if (!field) return "it has a malformed field";
  if (names_field(*field, "content-length")) {
    const std::optional<std::uint64_t> length = number_in(field->value, 10);
    if (!length || (length_ && *length_ != *length)) return "its length is ambiguous";
    length_ = length;
    return {};
  }
  if (names_field(*field, "transfer-encoding")) {
    if (chunked_ || !equal_ignoring_case(field->value, "chunked")) return "its length is ambiguous";
    chunked_ = true;
    return {};
  }
  // We asked for an uncompressed body; in a compressed one we could not find the credentials.
  if (names_field(*field, "content-encoding")) {
    return equal_ignoring_case(field->value, "identity") ? "" : "it is compressed, and was asked not to be";
  }
  if (secrets_.holds(line)) return {};
  if (names_field(*field, "location")) {
    const std::string origin = endpoint_.registry_origin();
    const bool back = field->value.starts_with(origin + "/");
    const std::string_view path = back ? field->value.substr(origin.size()) : std::string_view();
    const std::string here = endpoint_.url();
    kept += back ? fmt::format("Location: {}{}\r\n", here.substr(0, here.size() - endpoint_.path.size()), path)
                 : fmt::format("Location: {}\r\n", field->value);
    return {};
  }
  if (is_passed(*field)) kept.append(line).append("\r\n");
  return {};
}

std::string_view RegistryAnswer::settle_body(int status) {
  if (length_ && chunked_) return "its length is ambiguous";
  if (to_head_ || status == 204 || status == 304) {
    body_ = Body::kNone;
  } else if (chunked_) {
    body_ = Body::kChunked;
  } else if (length_) {
    body_ = *length_ == 0 ? Body::kNone : Body::kLength;
    remaining_ = *length_;
  } else {
    body_ = Body::kToEnd;
  }
  return {};
}

RegistryAnswer::State RegistryAnswer::feed_length(std::string_view bytes, std::string& out) {
  const std::string_view own = bytes.substr(0, remaining_);
  remaining_ -= own.size();
  const State state = pass(own, out);
  return state == State::kMore && remaining_ == 0 ? finish(out) : state;
}

RegistryAnswer::State RegistryAnswer::feed_chunked(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    if (chunk_ == Chunk::kData) {
      const std::string_view own = bytes.substr(0, remaining_);
      if (const State state = pass(own, out); state != State::kMore) return state;
      bytes.remove_prefix(own.size());
      remaining_ -= own.size();
      if (remaining_ == 0) chunk_ = Chunk::kDataEnd;
      continue;
    }
    const char c = bytes.front();
    bytes.remove_prefix(1);
    if (line_.ends_with('\r') != (c == '\n') || line_.size() > kLongestAnswerLine)
      return broken("a chunk is malformed");
    line_ += c;
    if (c != '\n') continue;
    line_.resize(line_.size() - 2);
    if (const State state = end_of_chunk_line(out); state != State::kMore) return state;
    line_.clear();
  }
  return State::kMore;
}

RegistryAnswer::State RegistryAnswer::end_of_chunk_line(std::string& out) {
  if (chunk_ == Chunk::kTrailers) {  // read, and not passed on
    trailers_ += line_.size();
    if (trailers_ > kLargestAnswerTrailers) return broken("its trailers are too large");
    return line_.empty() ? finish(out) : State::kMore;
  }
  if (chunk_ == Chunk::kDataEnd) {
    if (!line_.empty()) return broken("a chunk is malformed");
    chunk_ = Chunk::kSize;
    return State::kMore;
  }
  std::string_view digits = std::string_view(line_).substr(0, line_.find(';'));
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const std::optional<std::uint64_t> size = number_in(digits, 16);
  if (!size) return broken("a chunk is malformed");
  remaining_ = *size;
  chunk_ = remaining_ == 0 ? Chunk::kTrailers : Chunk::kData;
  return State::kMore;
}

RegistryAnswer::State RegistryAnswer::pass(std::string_view bytes, std::string& out) {
  held_ += bytes;
  const SecretSearch::Seen seen = secrets_.look(held_);
  if (seen.found) return State::kSecret;
  out.append(held_, 0, seen.clean);
  held_.erase(0, seen.clean);
  return State::kMore;
}

RegistryAnswer::State RegistryAnswer::finish(std::string& out) {
  out += held_;
  held_.clear();
  body_ = Body::kNone;
  return State::kDone;
}

}  // namespace sallyport
