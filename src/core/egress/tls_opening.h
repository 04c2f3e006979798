// The rest of a TLS handshake's clear part, after the first ClientHello. A server may ask for a second hello (TLS 1.3,
// HelloRetryRequest), and some servers use the name in the second. So we check everything a client sends until the
// server has chosen and the client has answered that choice. Servers skip alerts and change_cipher_spec records on the
// way (RFC 8446, 5 and D.4; OpenSSL skips a warning alert), so these records prove nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/egress/client_hello.h"

namespace sallyport {

// Reads the server's records until its ServerHello.
class ServerHelloWatch {
 public:
  // Takes the bytes in order, in any pieces, and keeps none.
  void feed(std::span<const std::uint8_t> bytes);
  // True after a ServerHello that is no HelloRetryRequest: the server asks for no other hello.
  [[nodiscard]] bool chosen() const { return state_ == State::kChosen; }
  // Further bytes change nothing: the server has chosen, or we did not understand it, which never counts as chosen.
  [[nodiscard]] bool done() const { return state_ == State::kChosen || state_ == State::kLost; }

 private:
  enum class State { kRecordHead, kHandshake, kSkipRecord, kChosen, kLost };
  static constexpr std::size_t kRecordHeadSize = 5;
  // Type, length, version, random.
  static constexpr std::size_t kOpeningSize = 1 + 3 + 2 + 32;

  void end_of_record_head();
  std::size_t feed_handshake(std::span<const std::uint8_t> bytes);
  void end_of_opening();

  State state_ = State::kRecordHead;
  std::array<std::uint8_t, kRecordHeadSize> record_head_{};
  std::size_t record_head_size_ = 0;
  std::size_t record_left_ = 0;
  std::array<std::uint8_t, kOpeningSize> opening_{};
  std::size_t opening_size_ = 0;
  std::size_t message_left_ = 0;  // of a HelloRetryRequest, to be skipped
};

struct ClientRecord {
  enum class Kind {
    kNeedMore,
    kHello,    // another hello of `size` bytes in `hello`: check it like the first
    kAside,    // an alert or a change_cipher_spec of `size` bytes: pass it on, and ask again about what follows
    kSettled,  // the client answers the server's choice: no hello can follow in the clear
    kRefused,  // `why`
  };
  Kind kind = Kind::kNeedMore;
  std::size_t size = 0;
  std::string_view why{};
  ClientHelloVerdict hello{};
};

// `bytes` are what the client sent after a hello, from a record's first byte on.
[[nodiscard]] ClientRecord parse_after_client_hello(std::span<const std::uint8_t> bytes, bool server_has_chosen);

}  // namespace sallyport
