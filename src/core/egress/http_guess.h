// Decides whether a connection that may carry any protocol carries HTTP. It is wider than HttpRequests: what some
// server would take for a request must count as one, and HttpRequests then refuses it. Servers differ in what they
// accept as a blank (Python: VT, FF, 0x1c to 0x1f, NEL, NBSP; Ruby: VT, FF; C: NUL ends a word), so here everything but
// visible ASCII is a blank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sallyport {

enum class HttpGuess {
  kYes,
  kNo,     // the first line is complete and no request line
  kMaybe,  // incomplete; no server acts on a part of a line
};

// Takes a connection's first bytes in order, in any pieces; it keeps none of them, so a line's length is not limited
// here.
class HttpGuesser {
 public:
  // A kYes or kNo is final.
  HttpGuess feed(std::span<const std::uint8_t> bytes);
  // Call when no more bytes will come: some servers treat the end as a line's end.
  HttpGuess at_end();

 private:
  enum class Part { kBefore, kMethod, kGap, kRest };
  static constexpr std::size_t kLongestKnown = 7;

  void step(char c);
  void step_method(char c);
  void step_rest(char c);
  void begin_rest(char c);
  void end_of_line();
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] bool is_known_method() const;
  [[nodiscard]] bool ends_with_version() const;

  HttpGuess guess_ = HttpGuess::kMaybe;
  Part part_ = Part::kBefore;
  std::size_t before_ = 0;
  std::array<char, kLongestKnown + 1> method_{};
  std::size_t method_size_ = 0;
  bool plain_method_ = true;   // a token, and not NATS's CONNECT
  std::size_t word_size_ = 0;  // of the current word, or of the last one
  bool word_ended_ = false;
  bool word_is_version_ = true;  // so far
};

[[nodiscard]] HttpGuess looks_like_http(std::span<const std::uint8_t> bytes);

}  // namespace sallyport
