#include "core/egress/http_guess.h"

#include <algorithm>

#include "core/egress/http_text.h"

namespace sallyport {
namespace {

// PROXY is no method: it starts the PROXY protocol's header, after which we would not read the request or hello.
constexpr std::array<std::string_view, 11> kHttpMethods = {"GET",     "HEAD",  "POST",    "PUT", "PATCH", "DELETE",
                                                           "OPTIONS", "TRACE", "CONNECT", "PRI", "PROXY"};
constexpr std::string_view kVersionStart = "http/";

bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

}  // namespace

HttpGuess HttpGuesser::feed(std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) {
    if (guess_ != HttpGuess::kMaybe) break;
    step(static_cast<char>(byte));
  }
  return guess_;
}

HttpGuess HttpGuesser::at_end() {
  if (guess_ == HttpGuess::kMaybe) end_of_line();
  return guess_;
}

void HttpGuesser::step(char c) {
  if (part_ == Part::kBefore && !is_visible(c)) {
    ++before_;
    return;
  }
  if (c == '\n') return end_of_line();
  switch (part_) {
    case Part::kBefore:
      part_ = Part::kMethod;
      [[fallthrough]];
    case Part::kMethod:
      return step_method(c);
    case Part::kGap:
      if (is_visible(c)) begin_rest(c);
      return;
    case Part::kRest:
      return step_rest(c);
  }
}

void HttpGuesser::step_method(char c) {
  if (!is_visible(c)) {
    part_ = Part::kGap;
    return;
  }
  if (!is_token_char(c)) plain_method_ = false;
  if (method_size_ < method_.size()) method_[method_size_++] = c;
}

void HttpGuesser::begin_rest(char c) {
  // NATS sends CONNECT with a JSON object, which is no host.
  const bool nats = method() == "CONNECT" && c == '{';
  if (is_known_method() && !nats) {
    guess_ = HttpGuess::kYes;  // with or without a version: HTTP/0.9 has none
    return;
  }
  if (nats) plain_method_ = false;
  part_ = Part::kRest;
  step_rest(c);
}

// If the method could be one, a word that starts like a version makes the line a request. If it could not, a line with
// such a word in the middle is no request; a line that ends with it may be one to a lenient server.
void HttpGuesser::step_rest(char c) {
  if (!is_visible(c)) {
    word_ended_ = true;
    if (c == '\r' && !plain_method_ && ends_with_version()) guess_ = HttpGuess::kYes;
    return;
  }
  if (word_ended_) {
    word_size_ = 0;
    word_ended_ = false;
    word_is_version_ = true;
  }
  const bool fits =
      word_size_ < kVersionStart.size() ? ascii_lower(c) == kVersionStart[word_size_] : is_ascii_digit(c) || c == '.';
  ++word_size_;
  if (!fits) word_is_version_ = false;
  if (plain_method_ && word_is_version_ && word_size_ == kVersionStart.size()) guess_ = HttpGuess::kYes;
}

void HttpGuesser::end_of_line() {
  // The PROXY protocol's second version begins with this line.
  constexpr std::size_t kBeforeQuit = 7;
  const bool proxied = before_ == kBeforeQuit && method() == "QUIT" && part_ == Part::kMethod;
  const bool request = part_ == Part::kRest && !plain_method_ && ends_with_version();
  guess_ = proxied || request ? HttpGuess::kYes : HttpGuess::kNo;
}

std::string_view HttpGuesser::method() const { return {method_.data(), method_size_}; }

bool HttpGuesser::is_known_method() const { return std::ranges::find(kHttpMethods, method()) != kHttpMethods.end(); }

bool HttpGuesser::ends_with_version() const { return word_is_version_ && word_size_ >= kVersionStart.size(); }

HttpGuess looks_like_http(std::span<const std::uint8_t> bytes) { return HttpGuesser().feed(bytes); }

}  // namespace sallyport
