// Just enough DNS to answer a stub resolver: one question in, one answer out. Names with bytes a host name cannot have
// parse too (they are then refused by the rules, under their printable spelling).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/egress/ip_address.h"

namespace sallyport {

inline constexpr std::uint16_t kDnsTypeA = 1;
inline constexpr std::uint16_t kDnsTypeAaaa = 28;

struct DnsQuery {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool edns = false;             // an OPT record came along; the answer carries one too
  std::uint16_t udp_size = 512;  // what the client can take over UDP
  // Dotted text as sent, case kept, without the trailing dot; bytes outside [A-Za-z0-9_-] escaped as \DDD. The root is
  // empty.
  std::string name{};
  std::uint16_t type = 0;
  std::uint16_t klass = 0;
  std::vector<std::uint8_t> question{};  // the question section's own bytes, repeated in the answer
};

enum class DnsRcode : std::uint8_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5
};

// nullopt: not a query at all (too short, a response): say nothing. A query that is malformed or unsupported (opcode,
// several questions, compression loops, …) has `refuse_with` set, and only `id` and `recursion_desired` are sure.
struct ParsedDnsQuery {
  DnsQuery query{};
  std::optional<DnsRcode> refuse_with{};
};
[[nodiscard]] std::optional<ParsedDnsQuery> parse_dns_query(std::span<const std::uint8_t> message);

// NoError with no address, or with one that does not fit the question's type, is NODATA. Never longer than 512 bytes,
// which every client takes over UDP. Negative answers carry an SOA so that they are cached, not retried.
[[nodiscard]] std::vector<std::uint8_t> write_dns_answer(const DnsQuery& query, DnsRcode rcode,
                                                         const std::optional<IpAddress>& address);

}  // namespace sallyport
