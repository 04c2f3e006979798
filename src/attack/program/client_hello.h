// A ClientHello written byte by byte, with any content that an attack needs.
#pragma once

#include <string>
#include <string_view>

namespace sallyport::attacks {

struct Hello {
  std::string random{};      // at most 32 bytes, filled up with zeros
  std::string extensions{};  // made by the functions below
};

[[nodiscard]] std::string extension(unsigned type, std::string_view body);
[[nodiscard]] std::string server_name(std::string_view name);
[[nodiscard]] std::string two_server_names(std::string_view first, std::string_view second);

// The handshake message in records of at most `piece` bytes each.
[[nodiscard]] std::string client_hello(const Hello& hello, std::size_t piece = 16384);

}  // namespace sallyport::attacks
