// Reads the server name from a TLS ClientHello, however it is split into records and packets, and keeps no bytes
// besides the caller's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sallyport {

// A ClientHello with post-quantum keys has about 2 KiB; no honest one is larger than this limit.
inline constexpr std::size_t kLargestClientHello = 64 * 1024;

struct ClientHelloVerdict {
  enum class Kind {
    kUnsure,     // too few bytes to decide whether it is TLS
    kNeedMore,   // TLS, and valid so far: ask again with more bytes
    kHello,      // complete
    kNotTls,     // the first byte(s) are not a TLS record
    kMalformed,  // TLS, but no ClientHello that we accept (SSLv2, false lengths, two or empty SNIs, over the cap), or
                 // another record in front of it: servers skip a warning, and read the hello after it
  };
  Kind kind = Kind::kNeedMore;
  std::string_view why{};  // of kMalformed
  bool has_server_name = false;
  std::string server_name{};            // as sent, not normalised; of kHello with has_server_name
  bool encrypted_client_hello = false;  // or GREASE in its shape, or its predecessor ESNI
  bool early_data = false;              // offered: encrypted bytes may come before a second hello
  std::size_t size = 0;                 // of kHello: its size in bytes
};

// `bytes` is everything the client has sent so far.
[[nodiscard]] ClientHelloVerdict parse_client_hello(std::span<const std::uint8_t> bytes);

}  // namespace sallyport
