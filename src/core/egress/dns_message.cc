#include "core/egress/dns_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "core/egress/byte_reader.h"

namespace sallyport {
namespace {

using DnsBytes = std::vector<std::uint8_t>;

constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kLongestDnsLabel = 63;
constexpr std::size_t kLongestWireName = 255;
constexpr std::uint16_t kTypeSoa = 6;
constexpr std::uint16_t kTypeOpt = 41;
constexpr std::uint16_t kClassIn = 1;
constexpr std::uint16_t kFlagResponse = 0x8000;
constexpr std::uint16_t kFlagRecursionDesired = 0x0100;
constexpr std::uint16_t kFlagRecursionAvailable = 0x0080;
constexpr unsigned kSmallestUdp = 512;
// Fits every path without fragments (DNS flag day 2020); our answers are far smaller.
constexpr std::uint16_t kOurUdpSize = 1232;
// A name keeps its address for the whole run, so any value works.
constexpr std::uint32_t kSecondsToLive = 60;

bool is_plain_dns_byte(std::uint8_t byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' ||
         byte == '_';
}

void append_dns_label(std::string& name, std::span<const std::uint8_t> label) {
  if (!name.empty()) name += '.';
  for (const std::uint8_t byte : label) {
    if (is_plain_dns_byte(byte)) {
      name += static_cast<char>(byte);
    } else {
      fmt::format_to(std::back_inserter(name), "\\{:03}", byte);
    }
  }
}

// The question comes first, so a compression pointer in it has no valid target.
bool read_question_name(ByteReader& reader, std::string& name) {
  std::size_t wire_size = 1;
  while (true) {
    const std::uint8_t length = reader.u8();
    if (reader.overrun() || length > kLongestDnsLabel) return false;
    if (length == 0) return true;
    wire_size += 1U + length;
    if (wire_size > kLongestWireName) return false;
    append_dns_label(name, reader.take(length));
    if (reader.overrun()) return false;
  }
}

// Skips the owner name of a record that we do not read. A pointer ends a name, and we do not follow it, so no loop is
// possible.
bool skip_name(ByteReader& reader) {
  while (true) {
    const std::uint8_t length = reader.u8();
    if (reader.overrun()) return false;
    if (length == 0) return true;
    if ((length & 0xc0U) == 0xc0U) {
      (void)reader.u8();
      return !reader.overrun();
    }
    if (length > kLongestDnsLabel) return false;
    reader.take(length);
  }
}

// We read only OPT (RFC 6891), and skip a TSIG or SIG(0).
bool read_additional(ByteReader& reader, unsigned records, DnsQuery& query) {
  for (; records > 0; --records) {
    const bool at_root = !reader.rest().empty() && reader.rest()[0] == 0;
    if (!skip_name(reader)) return false;
    const std::uint16_t type = reader.u16();
    const std::uint16_t klass = reader.u16();
    const std::uint32_t ttl = reader.number(4);
    (void)reader.sized(2);
    if (reader.overrun()) return false;
    if (type != kTypeOpt) continue;
    const bool version_zero = (ttl >> 16 & 0xffU) == 0;
    if (!at_root || query.edns || !version_zero) return false;
    query.edns = true;
    query.udp_size = static_cast<std::uint16_t>(std::max<unsigned>(klass, kSmallestUdp));
  }
  return reader.ended();
}

ParsedDnsQuery refuse_query(const DnsQuery& query, DnsRcode rcode) {
  return {.query = {.id = query.id, .recursion_desired = query.recursion_desired}, .refuse_with = rcode};
}

void put_number(DnsBytes& out, std::uint32_t value, unsigned bytes) {
  while (bytes-- > 0) out.push_back(static_cast<std::uint8_t>(value >> (8 * bytes)));
}

void put_address(DnsBytes& out, const IpAddress& address) {
  put_number(out, 0xc000U | kHeaderSize, 2);  // a pointer to the question's name
  put_number(out, address.v6 ? kDnsTypeAaaa : kDnsTypeA, 2);
  put_number(out, kClassIn, 2);
  put_number(out, kSecondsToLive, 4);
  const std::uint16_t size = address.v6 ? 16 : 4;
  put_number(out, size, 2);
  out.insert(out.end(), address.bytes.begin(), address.bytes.begin() + size);
}

// The root's SOA, since the root is above every name; its minimum says how long a negative answer may be cached (RFC
// 2308).
void put_soa(DnsBytes& out) {
  static constexpr std::array<std::uint32_t, 5> kTimes = {1, 3600, 600, 86400, kSecondsToLive};
  put_number(out, 0, 1);
  put_number(out, kTypeSoa, 2);
  put_number(out, kClassIn, 2);
  put_number(out, kSecondsToLive, 4);
  put_number(out, 2 + 4 * kTimes.size(), 2);
  put_number(out, 0, 2);  // empty names for server and person
  for (const std::uint32_t time : kTimes) put_number(out, time, 4);
}

void put_opt(DnsBytes& out) {
  put_number(out, 0, 1);
  put_number(out, kTypeOpt, 2);
  put_number(out, kOurUdpSize, 2);
  put_number(out, 0, 4);
  put_number(out, 0, 2);
}

}  // namespace

std::optional<ParsedDnsQuery> parse_dns_query(std::span<const std::uint8_t> message) {
  ByteReader reader(message);
  DnsQuery query;
  query.id = reader.u16();
  const std::uint16_t flags = reader.u16();
  const std::uint16_t questions = reader.u16();
  const std::uint16_t answers = reader.u16();
  const std::uint16_t authorities = reader.u16();
  const std::uint16_t additionals = reader.u16();
  if (reader.overrun() || (flags & kFlagResponse) != 0) return std::nullopt;
  query.recursion_desired = (flags & kFlagRecursionDesired) != 0;
  const unsigned opcode = flags >> 11 & 0xfU;
  if (opcode != 0) return refuse_query(query, DnsRcode::kNotImp);
  if (questions != 1 || answers != 0 || authorities != 0) return refuse_query(query, DnsRcode::kFormErr);
  const std::span<const std::uint8_t> from_question = reader.rest();
  if (!read_question_name(reader, query.name)) return refuse_query(query, DnsRcode::kFormErr);
  query.type = reader.u16();
  query.klass = reader.u16();
  if (reader.overrun()) return refuse_query(query, DnsRcode::kFormErr);
  const std::span<const std::uint8_t> question = from_question.first(from_question.size() - reader.size());
  query.question.assign(question.begin(), question.end());
  if (!read_additional(reader, additionals, query)) return refuse_query(query, DnsRcode::kFormErr);
  return ParsedDnsQuery{.query = std::move(query)};
}

std::vector<std::uint8_t> write_dns_answer(const DnsQuery& query, DnsRcode rcode,
                                           const std::optional<IpAddress>& address) {
  const bool has_question = !query.question.empty();
  // Leave out an address of the other family, and any address in an error.
  const bool positive = has_question && rcode == DnsRcode::kNoError && address.has_value() && query.klass == kClassIn &&
                        query.type == (address->v6 ? kDnsTypeAaaa : kDnsTypeA);
  const bool negative = has_question && !positive && (rcode == DnsRcode::kNoError || rcode == DnsRcode::kNxDomain);

  DnsBytes out;
  out.reserve(kHeaderSize + query.question.size() + 64);
  put_number(out, query.id, 2);
  put_number(out,
             kFlagResponse | kFlagRecursionAvailable | (query.recursion_desired ? kFlagRecursionDesired : 0U) |
                 static_cast<unsigned>(rcode),
             2);
  put_number(out, has_question ? 1 : 0, 2);
  put_number(out, positive ? 1 : 0, 2);
  put_number(out, negative ? 1 : 0, 2);
  put_number(out, query.edns ? 1 : 0, 2);
  out.insert(out.end(), query.question.begin(), query.question.end());
  if (positive) put_address(out, *address);
  if (negative) put_soa(out);
  if (query.edns) put_opt(out);
  return out;
}

}  // namespace sallyport
