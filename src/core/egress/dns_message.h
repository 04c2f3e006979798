// Just enough DNS to answer a stub resolver: one question in, one answer out. It also parses names with bytes that no
// host name can have; the rules then refuse such a name in its printable spelling.
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
  bool edns = false;             // the query has an OPT record, so the answer carries one too
  std::uint16_t udp_size = 512;  // the most that the client accepts over UDP
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

// nullopt: not a query (too short, or a response), so do not answer. A malformed or unsupported query (opcode, several
// questions, compression loops, …) has `refuse_with` set, and only `id` and `recursion_desired` are valid.
struct ParsedDnsQuery {
  DnsQuery query{};
  std::optional<DnsRcode> refuse_with{};
};
[[nodiscard]] std::optional<ParsedDnsQuery> parse_dns_query(std::span<const std::uint8_t> message);

// NoError without an address, or with one that does not fit the question's type, means NODATA. An answer never exceeds
// 512 bytes, which every client accepts over UDP. Negative answers carry an SOA, so that clients cache them and do not
// retry.
[[nodiscard]] std::vector<std::uint8_t> write_dns_answer(const DnsQuery& query, DnsRcode rcode,
                                                         const std::optional<IpAddress>& address);

}  // namespace sallyport
