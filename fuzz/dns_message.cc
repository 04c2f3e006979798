// Any datagram to the DNS responder (C24): nothing, a refusal, or a question that can be answered in 512 bytes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/egress/dns_message.h"
#include "core/egress/host_name.h"
#include "fuzz/require.h"

namespace {

using sallyport::DnsRcode;

void check_answers(const sallyport::DnsQuery& query) {
  const auto v4 = sallyport::IpAddress::v4(198, 18, 0, 1);
  const sallyport::IpAddress v6{.v6 = true, .bytes = {0x20, 0x01, 0, 2}};
  for (const std::optional<sallyport::IpAddress>& address : {std::optional(v4), std::optional(v6), {}}) {
    for (const DnsRcode rcode : {DnsRcode::kNoError, DnsRcode::kNxDomain, DnsRcode::kRefused}) {
      const std::vector<std::uint8_t> answer = sallyport::write_dns_answer(query, rcode, address);
      require(answer.size() >= 12 && answer.size() <= 512);
      require((answer[2] & 0x80U) != 0);                         // a response,
      require(!sallyport::parse_dns_query(answer).has_value());  // which is not answered in turn
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = sallyport::parse_dns_query(std::span(data, size));
  if (!parsed) return 0;
  require(size >= 12);
  require(parsed->query.udp_size >= 512);
  require(parsed->refuse_with.has_value() == parsed->query.question.empty());
  // A refused query yields its client's address and no name.
  require(!parsed->refuse_with || parsed->query.name.empty());
  require(parsed->query.name.find_first_of(std::string_view("\0\n /:", 5)) == std::string::npos);
  (void)sallyport::normalise_host_name(parsed->query.name);
  check_answers(parsed->query);
  return 0;
}
