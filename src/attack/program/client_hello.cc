#include "attack/program/client_hello.h"

#include <algorithm>

namespace sallyport::attacks {
namespace {

std::string number(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8U * static_cast<unsigned>(i)));
  return text;
}

std::string sized(std::string_view body, int bytes) { return number(body.size(), bytes) + std::string(body); }

// Appended, not added: g++ 12 sees an overlap in the sum that is not there, and only the release build optimises enough to.
std::string name_entry(std::string_view name) { return std::string(1, '\0').append(sized(name, 2)); }

}  // namespace

std::string extension(unsigned type, std::string_view body) { return number(type, 2) + sized(body, 2); }

std::string server_name(std::string_view name) { return extension(0, sized(name_entry(name), 2)); }

std::string two_server_names(std::string_view first, std::string_view second) {
  return extension(0, sized(name_entry(first) + name_entry(second), 2));
}

std::string client_hello(const Hello& hello, std::size_t piece) {
  constexpr std::size_t kRandomSize = 32;
  using namespace std::string_view_literals;
  std::string body = "\x03\x03" + hello.random.substr(0, kRandomSize);
  body.append(kRandomSize - std::min(hello.random.size(), kRandomSize), '\0');
  body += '\0';                            // no session
  body += sized("\x13\x01\xc0\x2f"sv, 2);  // two cipher suites
  body += "\x01\x00"sv;                    // no compression
  std::string extensions = hello.extensions;
  extensions += extension(43, "\x02\x03\x04"sv);      // TLS 1.3
  extensions += extension(10, "\x00\x02\x00\x1d"sv);  // x25519
  extensions += extension(13, "\x00\x02\x04\x03"sv);
  body += sized(extensions, 2);
  const std::string message = '\x01' + sized(body, 3);
  std::string records;
  for (std::size_t at = 0; at < message.size(); at += piece) {
    records += "\x16\x03\x01"sv;
    records += sized(std::string_view(message).substr(at, piece), 2);
  }
  return records;
}

}  // namespace sallyport::attacks
