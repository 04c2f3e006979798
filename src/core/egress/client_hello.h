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
    kNeedMore,   // so far so good: ask again with more bytes
    kHello,      // complete
    kNotTls,     // the first byte(s) are not a TLS handshake record
    kMalformed,  // TLS, but no ClientHello we understand (SSLv2, lengths that lie, two or empty SNIs, over the cap)
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

// The same question for what a client sends after its first hello. A server may ask for a second one (TLS 1.3,
// HelloRetryRequest), and some servers believe the name in that: it comes in the clear, so it can be checked too.
// kHello: a second hello, check it like the first; kNotTls: the handshake has gone on, no other hello can follow in the
// clear. Whole change_cipher_spec records in front of either are passed over, and counted in `size`.
[[nodiscard]] ClientHelloVerdict parse_second_client_hello(std::span<const std::uint8_t> bytes);

}  // namespace sallyport
