// Is it HTTP at all? Asked of connections that may speak anything. Wider than what HttpRequests accepts: what some server
// would take for a request must be judged as one, and is then refused there. Servers differ in what they take for a blank
// (Python: VT, FF, 0x1c to 0x1f, NEL, NBSP; Ruby: VT, FF; C: NUL ends a word), so here everything but visible ASCII is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sallyport {

enum class HttpGuess {
  kYes,
  kNo,     // the first line is over, and no request line
  kMaybe,  // not over; nobody acts on a part of it
};

// Fed with a connection's first bytes in order, however they are cut; keeps none of them, so a line has no limit here.
class HttpGuesser {
 public:
  // A guess once made stays.
  HttpGuess feed(std::span<const std::uint8_t> bytes);
  // No more bytes will come: some servers take the end for a line's end.
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
  std::size_t word_size_ = 0;  // of the word at hand, or of the last one
  bool word_ended_ = false;
  bool word_is_version_ = true;  // so far
};

[[nodiscard]] HttpGuess looks_like_http(std::span<const std::uint8_t> bytes);

}  // namespace sallyport
