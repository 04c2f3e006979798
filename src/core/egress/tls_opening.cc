#include "core/egress/tls_opening.h"

#include <algorithm>

namespace sallyport {
namespace {

constexpr std::uint8_t kChangeCipherSpecRecord = 20;
constexpr std::uint8_t kAlertRecord = 21;
constexpr std::uint8_t kHandshakeRecord = 22;
constexpr std::uint8_t kApplicationData = 23;
constexpr std::uint8_t kTlsMajor = 3;
constexpr std::size_t kHeadSize = 5;
constexpr std::size_t kLargestPlainRecord = 1U << 14;

constexpr std::uint8_t kClientHelloMessage = 1;
constexpr std::uint8_t kServerHelloMessage = 2;

// RFC 8446, 4.1.3: the random of a ServerHello that is a HelloRetryRequest.
constexpr std::array<std::uint8_t, 32> kRetryRandom = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
                                                       0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
                                                       0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

ClientRecord refused_record(std::string_view why) { return {.kind = ClientRecord::Kind::kRefused, .why = why}; }
ClientRecord settled() { return {.kind = ClientRecord::Kind::kSettled}; }

// What a TLS 1.2 client sends first after the server's part (RFC 5246, 7.3; 23 comes from RFC 4680).
bool answers_server_hello(std::uint8_t message) {
  constexpr std::array<std::uint8_t, 3> kAnswers = {11, 16, 23};
  return std::ranges::find(kAnswers, message) != kAnswers.end();
}

ClientRecord parse_handshake(std::span<const std::uint8_t> bytes, bool server_has_chosen) {
  if (bytes.size() < kHeadSize) return {};
  if (bytes[3] == 0 && bytes[4] == 0) return refused_record("an empty record");
  if (bytes.size() == kHeadSize) return {};
  const std::uint8_t message = bytes[kHeadSize];
  if (message != kClientHelloMessage) {
    return server_has_chosen && answers_server_hello(message) ? settled() : refused_record("a message out of turn");
  }
  ClientHelloVerdict hello = parse_client_hello(bytes);
  switch (hello.kind) {
    case ClientHelloVerdict::Kind::kUnsure:
    case ClientHelloVerdict::Kind::kNeedMore:
      return {};
    case ClientHelloVerdict::Kind::kHello:
      return {.kind = ClientRecord::Kind::kHello, .size = hello.size, .hello = std::move(hello)};
    case ClientHelloVerdict::Kind::kNotTls:
    case ClientHelloVerdict::Kind::kMalformed:
      break;
  }
  return refused_record(hello.why);
}

// A record of `body` bytes; the first is 1, or an alert's level, which may be 2.
ClientRecord parse_aside(std::span<const std::uint8_t> bytes, std::size_t body, std::string_view why_not) {
  if (bytes.size() < kHeadSize) return {};
  if (bytes[3] != 0 || bytes[4] != body) return refused_record(why_not);
  if (bytes.size() < kHeadSize + body) return {};
  const std::uint8_t highest = bytes[0] == kAlertRecord ? 2 : 1;
  if (bytes[kHeadSize] < 1 || bytes[kHeadSize] > highest) return refused_record(why_not);
  return {.kind = ClientRecord::Kind::kAside, .size = kHeadSize + body};
}

}  // namespace

ClientRecord parse_after_client_hello(std::span<const std::uint8_t> bytes, bool server_has_chosen) {
  // A record's type alone does not decide: the version after it may be wrong, and the pieces in which the bytes arrive
  // must not matter.
  if (bytes.size() < 2) return {};
  if (bytes[1] != kTlsMajor) return refused_record("an unknown version");
  switch (bytes[0]) {
    case kHandshakeRecord:
      return parse_handshake(bytes, server_has_chosen);
    case kChangeCipherSpecRecord:
      // After it everything is encrypted; in a resumed TLS 1.2 session at once.
      if (server_has_chosen) return settled();
      return parse_aside(bytes, 1, "a malformed change_cipher_spec");
    case kAlertRecord:
      return parse_aside(bytes, 2, "a malformed alert");
    case kApplicationData:
      return server_has_chosen ? settled() : refused_record("data before the server's hello");
    default:
      return refused_record("an unknown record");
  }
}

void ServerHelloWatch::feed(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty() && !done()) {
    std::size_t used = 1;
    switch (state_) {
      case State::kRecordHead:
        record_head_[record_head_size_++] = bytes[0];
        if (record_head_size_ == kRecordHeadSize) end_of_record_head();
        break;
      case State::kSkipRecord:
        used = std::min(bytes.size(), record_left_);
        record_left_ -= used;
        break;
      case State::kHandshake:
        used = feed_handshake(bytes.first(std::min(bytes.size(), record_left_)));
        record_left_ -= used;
        break;
      case State::kChosen:
      case State::kLost:
        return;
    }
    bytes = bytes.subspan(used);
    if (record_left_ == 0 && (state_ == State::kSkipRecord || state_ == State::kHandshake)) state_ = State::kRecordHead;
  }
}

void ServerHelloWatch::end_of_record_head() {
  record_head_size_ = 0;
  record_left_ = static_cast<std::size_t>(record_head_[3]) << 8 | record_head_[4];
  const std::uint8_t type = record_head_[0];
  const bool aside = type == kAlertRecord || type == kChangeCipherSpecRecord;
  if (record_head_[1] != kTlsMajor || record_left_ == 0 || record_left_ > kLargestPlainRecord) {
    state_ = State::kLost;
  } else if (type == kHandshakeRecord) {
    state_ = State::kHandshake;
  } else {
    state_ = aside ? State::kSkipRecord : State::kLost;
  }
}

std::size_t ServerHelloWatch::feed_handshake(std::span<const std::uint8_t> bytes) {
  if (message_left_ > 0) {
    const std::size_t used = std::min(bytes.size(), message_left_);
    message_left_ -= used;
    return used;
  }
  const std::size_t used = std::min(bytes.size(), kOpeningSize - opening_size_);
  std::copy_n(bytes.begin(), used, opening_.begin() + static_cast<std::ptrdiff_t>(opening_size_));
  opening_size_ += used;
  if (opening_size_ == kOpeningSize) end_of_opening();
  return used;
}

void ServerHelloWatch::end_of_opening() {
  constexpr std::size_t kHeader = 4;
  constexpr std::size_t kRandomAt = kHeader + 2;
  opening_size_ = 0;
  const std::size_t size =
      static_cast<std::size_t>(opening_[1]) << 16 | static_cast<std::size_t>(opening_[2]) << 8 | opening_[3];
  if (opening_[0] != kServerHelloMessage || size < kOpeningSize - kHeader) {
    state_ = State::kLost;
  } else if (!std::ranges::equal(std::span(opening_).subspan(kRandomAt), kRetryRandom)) {
    state_ = State::kChosen;
  } else {
    message_left_ = size - (kOpeningSize - kHeader);
  }
}

}  // namespace sallyport
