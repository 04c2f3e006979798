// Reads the server name out of a TLS ClientHello, however it is split into records and packets, without keeping more
// than the bytes the caller holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sallyport {

// A ClientHello with post-quantum keys is about 2 KiB; nothing honest is larger than this.
inline constexpr std::size_t kLargestClientHello = 64 * 1024;

struct ClientHelloVerdict {
  enum class Kind {
    kUnsure,     // too few bytes to say whether it is TLS
    kNeedMore,   // TLS, so far so good: ask again with more bytes
    kHello,      // complete
    kNotTls,     // the first byte(s) are not a TLS record
    kMalformed,  // TLS, but no ClientHello we understand (SSLv2, lengths that lie, two or empty SNIs, over the cap), or
                 // another record in front of it: servers pass over a warning, and read the hello behind it
  };
  Kind kind = Kind::kNeedMore;
  std::string_view why{};  // of kMalformed
  bool has_server_name = false;
  std::string server_name{};            // as sent, not normalised; of kHello with has_server_name
  bool encrypted_client_hello = false;  // or a grease of its shape, or its forerunner ESNI
  bool early_data = false;              // offered: encrypted bytes may come before a second hello
  std::size_t size = 0;                 // of kHello: how many of the bytes it took
};

// `bytes` is everything the client has sent so far.
[[nodiscard]] ClientHelloVerdict parse_client_hello(std::span<const std::uint8_t> bytes);

}  // namespace sallyport
