#include "core/egress/client_hello.h"

#include <array>
#include <bitset>
#include <memory>
#include <vector>

#include "core/egress/byte_reader.h"

namespace sallyport {
namespace {

using TlsBytes = std::span<const std::uint8_t>;
using HelloVerdict = ClientHelloVerdict;

constexpr std::uint8_t kFirstRecordType = 20;
constexpr std::uint8_t kHandshake = 22;
constexpr std::uint8_t kLastRecordType = 24;  // heartbeat, which servers of its age drop in a handshake
constexpr std::uint8_t kClientHello = 1;
constexpr std::uint8_t kMajorVersion = 3;
constexpr std::uint8_t kHighestMinorVersion = 4;
constexpr std::size_t kRecordHeader = 5;
constexpr std::size_t kHandshakeHeader = 4;
constexpr std::size_t kLargestRecord = 1U << 14;
constexpr std::size_t kLargestEncryptedRecord = kLargestRecord + 2048;
constexpr std::uint16_t kServerName = 0;
constexpr std::uint16_t kEarlyData = 42;
constexpr std::uint16_t kEncryptedClientHello = 0xfe0d;
constexpr std::uint16_t kEncryptedServerName = 0xffce;

HelloVerdict malformed_hello(std::string_view why) { return {.kind = HelloVerdict::Kind::kMalformed, .why = why}; }
HelloVerdict unsure() { return {.kind = HelloVerdict::Kind::kUnsure}; }
HelloVerdict need_more_tls() { return {.kind = HelloVerdict::Kind::kNeedMore}; }
HelloVerdict not_tls() { return {.kind = HelloVerdict::Kind::kNotTls}; }

// A hello in SSLv2 format (RFC 5246, E.2): it cannot carry a name, and old servers still answer it. Lengths that fit
// each other distinguish its header from chance.
HelloVerdict judge_sslv2(TlsBytes bytes) {
  ByteReader reader(bytes);
  const std::size_t length = reader.u16() & 0x7fffU;
  const std::uint8_t type = reader.u8();
  if (!reader.overrun() && type != kClientHello) return not_tls();
  const std::uint8_t major = reader.u8();
  const std::uint8_t minor = reader.u8();
  const bool version_fits = major == kMajorVersion || (major == 0 && minor == 2);
  if (!reader.overrun() && !version_fits) return not_tls();
  const std::size_t ciphers = reader.u16();
  const std::size_t session = reader.u16();
  const std::size_t challenge = reader.u16();
  if (reader.overrun()) return unsure();
  constexpr std::size_t kFixed = 9;
  const bool fits = ciphers % 3 == 0 && ciphers != 0 && kFixed + ciphers + session + challenge == length;
  return fits ? malformed_hello("an SSLv2 hello") : not_tls();
}

// Exactly one name of the only type there is (RFC 6066, 3).
std::string_view read_server_name(ByteReader extension, HelloVerdict& verdict) {
  constexpr std::string_view kBad = "a malformed server name";
  ByteReader list = extension.sized(2);
  if (!extension.ended() || list.size() == 0) return kBad;
  const std::uint8_t type = list.u8();
  const ByteReader name = list.sized(2);
  if (type != 0 || name.overrun() || name.size() == 0) return kBad;
  if (!list.ended()) return "several server names";
  verdict.has_server_name = true;
  verdict.server_name.assign(name.rest().begin(), name.rest().end());
  return {};
}

std::string_view read_extensions(ByteReader extensions, HelloVerdict& verdict) {
  // On the heap: 8 KiB is a lot for a thread's stack.
  const auto seen = std::make_unique<std::bitset<65536>>();
  while (extensions.size() > 0) {
    const std::uint16_t type = extensions.u16();
    const ByteReader body = extensions.sized(2);
    if (body.overrun()) return "a malformed extension";
    if (seen->test(type)) return "an extension twice";
    seen->set(type);
    if (type == kEarlyData) verdict.early_data = true;
    if (type == kEncryptedClientHello || type == kEncryptedServerName) verdict.encrypted_client_hello = true;
    if (type != kServerName) continue;
    if (const std::string_view why = read_server_name(body, verdict); !why.empty()) return why;
  }
  return {};
}

// The message without its header (RFC 8446, 4.1.2; RFC 5246, 7.4.1.2).
HelloVerdict judge_hello(TlsBytes body) {
  constexpr std::size_t kRandomSize = 32;
  constexpr std::size_t kLongestSession = 32;
  ByteReader reader(body);
  const std::uint8_t major = reader.u8();
  (void)reader.u8();
  reader.take(kRandomSize);
  const std::size_t session = reader.sized(1).size();
  const std::size_t ciphers = reader.sized(2).size();
  const std::size_t compressions = reader.sized(1).size();
  if (reader.overrun() || major != kMajorVersion || session > kLongestSession || ciphers % 2 != 0 || ciphers == 0 ||
      compressions == 0) {
    return malformed_hello("a malformed hello");
  }
  HelloVerdict verdict{.kind = HelloVerdict::Kind::kHello};
  if (reader.ended()) return verdict;  // before TLS 1.2 a hello could have no extensions
  const ByteReader extensions = reader.sized(2);
  if (!reader.ended()) return malformed_hello("a malformed hello");
  const std::string_view why = read_extensions(extensions, verdict);
  return why.empty() ? verdict : malformed_hello(why);
}

struct TlsRecord {
  enum class Kind { kNeedMore, kWhole, kBad };
  Kind kind = Kind::kNeedMore;
  std::string_view why{};
  TlsBytes fragment{};  // for an incomplete record, the part that has arrived
};

// Reads a handshake record from its first byte on.
TlsRecord read_record(TlsBytes bytes) {
  if (!bytes.empty() && bytes[0] != kHandshake) return {.kind = TlsRecord::Kind::kBad, .why = "another record inside"};
  if (bytes.size() > 1 && bytes[1] != kMajorVersion)
    return {.kind = TlsRecord::Kind::kBad, .why = "an unknown version"};
  if (bytes.size() < kRecordHeader) return {};
  const std::size_t length = static_cast<std::size_t>(bytes[3]) << 8 | bytes[4];
  if (length == 0) return {.kind = TlsRecord::Kind::kBad, .why = "an empty record"};
  if (length > kLargestRecord) return {.kind = TlsRecord::Kind::kBad, .why = "a record too large"};
  const TlsBytes after = bytes.subspan(kRecordHeader);
  if (after.size() < length) return {.kind = TlsRecord::Kind::kNeedMore, .why = {}, .fragment = after};
  return {.kind = TlsRecord::Kind::kWhole, .why = {}, .fragment = after.first(length)};
}

// What we know of a handshake message while we walk over its records. It copies nothing before the message is complete:
// a client that sends byte by byte makes us walk often.
class HelloMessage {
 public:
  void add(TlsBytes fragment) {
    for (std::size_t i = 0; i < fragment.size() && size_ + i < kHandshakeHeader; ++i) head_[size_ + i] = fragment[i];
    size_ += fragment.size();
  }
  [[nodiscard]] std::string_view complaint() const {
    if (size_ > 0 && head_[0] != kClientHello) return "a handshake without a hello";
    if (wanted() > kLargestClientHello) return "a hello too large";
    if (wanted() != 0 && size_ > wanted()) return "more than a hello in its record";
    return {};
  }
  [[nodiscard]] bool complete() const { return wanted() != 0 && size_ == wanted(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  // With its header; 0 while that is incomplete.
  [[nodiscard]] std::size_t wanted() const {
    if (size_ < kHandshakeHeader) return 0;
    return kHandshakeHeader + ByteReader(std::span(head_).subspan(1)).number(3);
  }

  std::array<std::uint8_t, kHandshakeHeader> head_{};
  std::size_t size_ = 0;
};

// `records` are whole and hold one message.
HelloVerdict judge_message(TlsBytes records, std::size_t size) {
  if (records.size() == kRecordHeader + size) return judge_hello(records.subspan(kRecordHeader + kHandshakeHeader));
  std::vector<std::uint8_t> message;
  message.reserve(size);
  while (!records.empty()) {
    const TlsBytes fragment = read_record(records).fragment;
    message.insert(message.end(), fragment.begin(), fragment.end());
    records = records.subspan(kRecordHeader + fragment.size());
  }
  return judge_hello(TlsBytes(message).subspan(kHandshakeHeader));
}

HelloVerdict judge_records(TlsBytes bytes) {
  HelloMessage message;
  std::size_t used = 0;
  while (used < kLargestClientHello) {
    const TlsRecord record = read_record(bytes.subspan(used));
    if (record.kind == TlsRecord::Kind::kBad) return malformed_hello(record.why);
    message.add(record.fragment);
    if (const std::string_view why = message.complaint(); !why.empty()) return malformed_hello(why);
    if (record.kind == TlsRecord::Kind::kNeedMore) {
      return bytes.size() < kLargestClientHello ? need_more_tls() : malformed_hello("a hello too large");
    }
    used += kRecordHeader + record.fragment.size();
    if (!message.complete()) continue;
    if (used > kLargestClientHello) break;
    HelloVerdict verdict = judge_message(bytes.first(used), message.size());
    verdict.size = verdict.kind == HelloVerdict::Kind::kHello ? used : 0;
    return verdict;
  }
  return malformed_hello("a hello too large");
}

// A record other than a handshake's. A version and a length that fit distinguish its header from chance.
HelloVerdict judge_other_record(TlsBytes bytes) {
  ByteReader reader(bytes);
  (void)reader.u8();
  const std::uint8_t major = reader.u8();
  if (!reader.overrun() && major != kMajorVersion) return not_tls();
  const std::uint8_t minor = reader.u8();
  if (!reader.overrun() && minor > kHighestMinorVersion) return not_tls();
  const std::size_t length = reader.u16();
  if (reader.overrun()) return unsure();
  return length <= kLargestEncryptedRecord ? malformed_hello("another record in front of the hello") : not_tls();
}

}  // namespace

ClientHelloVerdict parse_client_hello(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return unsure();
  if ((bytes[0] & 0x80U) != 0) return judge_sslv2(bytes);
  if (bytes[0] < kFirstRecordType || bytes[0] > kLastRecordType) return not_tls();
  if (bytes[0] != kHandshake) return judge_other_record(bytes);
  if (bytes.size() == 1) return unsure();
  return bytes[1] == kMajorVersion ? judge_records(bytes) : not_tls();
}

}  // namespace sallyport
