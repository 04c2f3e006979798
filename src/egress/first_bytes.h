// Compares the host that a client's bytes name with the name that its address stands for. No sockets here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/egress/egress_rules.h"
#include "core/egress/http_requests.h"
#include "egress/denial_log.h"

namespace sallyport {

struct Refusal {
  DenialReason reason = DenialReason::kNotTls;
  std::string host{};                          // empty: the name that the connection's address stands for
  std::string goodbye{};                       // the message to the client; empty: a reset
  AddressKind address = AddressKind::kPublic;  // of DenialReason::kSpecialAddress
};

struct FirstBytes {
  enum class Kind {
    kUnsure,    // may still be TLS or not
    kNeedMore,  // TLS, not yet all of a hello
    kPass,      // the first `size` bytes are a ClientHello or an aside (tls_opening.h), and may pass
    kNotTls,    // only where other protocols are allowed
    kSettled,   // the handshake has moved on; nothing more in it is readable
    kRefused,
  };
  Kind kind = Kind::kUnsure;
  std::size_t size = 0;
  Refusal refusal{};
};

// `bytes` is everything so far. Not for ConnectionCheck::kHttp, which is HTTP from its first byte on.
[[nodiscard]] FirstBytes judge_first_bytes(ConnectionCheck check, std::span<const std::uint8_t> bytes,
                                           std::string_view name);
// `bytes` is everything after the first hello, from a record's first byte on.
[[nodiscard]] FirstBytes judge_after_hello(ConnectionCheck check, std::span<const std::uint8_t> bytes,
                                           std::string_view name, bool server_has_chosen);

// Null when the head's Host is `name` on `port`.
[[nodiscard]] std::optional<Refusal> refuse_host(const HttpRequests::Step& head, std::string_view name,
                                                 std::uint16_t port);
[[nodiscard]] Refusal refuse_request(HttpFault fault, std::string_view name, std::uint16_t port);

}  // namespace sallyport
