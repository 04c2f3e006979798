// Parses what a client of the proxy on loopback asks for, and writes DNS questions. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sallyport::spawn::posix {

struct ConnectRequest {
  std::string_view refusal{};  // not empty: the status line's code and words
  std::string host{};          // without brackets
  std::uint16_t port = 0;
};

// `head` ends with its empty line. `credentials` is what must stand behind "Proxy-Authorization: Basic ".
[[nodiscard]] ConnectRequest parse_connect(std::string_view head, std::string_view credentials);

// A DNS question for a name's IPv4 address, in the form for TCP. Empty: `name` is no name.
[[nodiscard]] std::string dns_question(std::string_view name);
// The address in the answer to that question, four bytes; nullopt: refused, or not an answer to it. Both without the length in front.
[[nodiscard]] std::optional<std::string> address_in(std::string_view answer, std::string_view question);

}  // namespace sallyport::spawn::posix
