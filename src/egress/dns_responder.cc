#include "egress/dns_responder.h"

#include <string_view>

#include "core/egress/host_name.h"

namespace sallyport {
namespace {

constexpr std::uint16_t kClassInternet = 1;

// "Who is 192.0.2.1?": libraries look addresses up before they log or greet. The lookup reaches no host, so its refusal
// is no denial.
bool is_reverse_lookup(std::string_view name) { return name.ends_with(".in-addr.arpa") || name.ends_with(".ip6.arpa"); }

// RFC 6761: every resolver answers this name itself, and it means the jail.
std::optional<IpAddress> localhost(std::string_view name, std::uint16_t type) {
  if (name != "localhost" && !name.ends_with(".localhost")) return std::nullopt;
  if (type == kDnsTypeA) return IpAddress::v4(127, 0, 0, 1);
  IpAddress loopback{.v6 = true};
  loopback.bytes[15] = 1;
  return loopback;
}

std::vector<std::uint8_t> deny(EgressRun& run, const DnsQuery& query, DenialReason reason, DnsRcode rcode) {
  run.denials.add(query.name.empty() ? "." : query.name, 0, reason);
  return write_dns_answer(query, rcode, std::nullopt);
}

std::vector<std::uint8_t> answer(EgressRun& run, const DnsQuery& query) {
  if (query.klass != kClassInternet) return write_dns_answer(query, DnsRcode::kRefused, std::nullopt);
  const Result<std::string> name = normalise_host_name(query.name);
  if (!name || !run.rules.allows_name(*name)) {
    if (name && is_reverse_lookup(*name)) return write_dns_answer(query, DnsRcode::kNxDomain, std::nullopt);
    if (name) {
      if (const std::optional<IpAddress> address = localhost(*name, query.type)) {
        return write_dns_answer(query, DnsRcode::kNoError, address);
      }
    }
    return deny(run, query, DenialReason::kHostNotAllowed, DnsRcode::kNxDomain);
  }
  // NODATA: the name exists, a record of this type does not.
  if (query.type != kDnsTypeA && query.type != kDnsTypeAaaa) {
    return write_dns_answer(query, DnsRcode::kNoError, std::nullopt);
  }
  if (query.type == kDnsTypeAaaa && !run.book.has_v6())
    return write_dns_answer(query, DnsRcode::kNoError, std::nullopt);
  const std::optional<IpAddress> address = query.type == kDnsTypeA ? run.book.v4_of(*name) : run.book.v6_of(*name);
  if (!address) return deny(run, query, DenialReason::kTooManyNames, DnsRcode::kServFail);
  return write_dns_answer(query, DnsRcode::kNoError, address);
}

}  // namespace

std::optional<std::vector<std::uint8_t>> answer_dns(EgressRun& run, std::span<const std::uint8_t> query) {
  const std::optional<ParsedDnsQuery> parsed = parse_dns_query(query);
  if (!parsed) return std::nullopt;
  if (parsed->refuse_with) return write_dns_answer(parsed->query, *parsed->refuse_with, std::nullopt);
  return answer(run, parsed->query);
}

}  // namespace sallyport
