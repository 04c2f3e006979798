// What the proxy on loopback understands: requests, and the answers of the run's own name server.
#include <gtest/gtest.h>

#include <array>

#include "core/egress/dns_message.h"
#include "spawn/posix/connect_request.h"

namespace sallyport::spawn::posix {
namespace {

constexpr std::string_view kEnd = "\r\n\r\n";

std::string head(std::string_view line, std::string_view fields = "Proxy-Authorization: Basic c2VjcmV0") {
  return std::string(line) + "\r\n" + std::string(fields) + std::string(kEnd);
}

TEST(ParseConnect, KnowsNamesAndAddresses) {
  const ConnectRequest name = parse_connect(head("CONNECT host.test:443 HTTP/1.1"), "c2VjcmV0");
  EXPECT_EQ(name.refusal, "");
  EXPECT_EQ(name.host, "host.test");
  EXPECT_EQ(name.port, 443);
  EXPECT_EQ(parse_connect(head("CONNECT [::1]:8443 HTTP/1.0"), "c2VjcmV0").host, "::1");
  EXPECT_EQ(
      parse_connect(head("CONNECT host.test:1 HTTP/1.1", "Host: x\r\nproxy-authorization:basic c2VjcmV0"), "c2VjcmV0")
          .refusal,
      "");
}

TEST(ParseConnect, RefusesAClientWithoutTheSecret) {
  for (const char* fields : {"Host: x", "Proxy-Authorization: Basic", "Proxy-Authorization: Basic c2VjcmV1",
                             "Proxy-Authorization: Bearer c2VjcmV0", "X-Proxy-Authorization: Basic c2VjcmV0"}) {
    EXPECT_TRUE(parse_connect(head("CONNECT host.test:443 HTTP/1.1", fields), "c2VjcmV0").refusal.starts_with("407"))
        << fields;
  }
}

TEST(ParseConnect, RefusesWhatIsNoConnect) {
  for (const char* line : {"GET http://host.test/ HTTP/1.1", "connect host.test:443 HTTP/1.1", ""}) {
    EXPECT_TRUE(parse_connect(head(line), "c2VjcmV0").refusal.starts_with("501")) << line;
  }
  for (const char* line :
       {"CONNECT host.test HTTP/1.1", "CONNECT host.test:0 HTTP/1.1", "CONNECT host.test:99999 HTTP/1.1",
        "CONNECT :443 HTTP/1.1", "CONNECT host.test:443x HTTP/1.1", "CONNECT host.test:443 HTTP/2",
        "CONNECT host.test:443"}) {
    EXPECT_TRUE(parse_connect(head(line), "c2VjcmV0").refusal.starts_with("400")) << line;
  }
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string answer_to(const std::string& question, DnsRcode rcode, const std::optional<IpAddress>& address) {
  const std::vector<std::uint8_t> answer = write_dns_answer(parse_dns_query(bytes_of(question))->query, rcode, address);
  return {answer.begin(), answer.end()};
}

// With the run's own name server at the other end.
TEST(DnsQuestion, IsUnderstoodAndItsAnswerToo) {
  const std::string question = dns_question("a.host-1.test");
  const std::optional<ParsedDnsQuery> parsed = parse_dns_query(bytes_of(question));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_FALSE(parsed->refuse_with.has_value());
  EXPECT_EQ(parsed->query.name, "a.host-1.test");
  EXPECT_EQ(parsed->query.type, kDnsTypeA);
  const std::string answer = answer_to(question, DnsRcode::kNoError, parse_ip_address("198.18.0.7"));
  EXPECT_EQ(address_in(answer, question), std::string("\xc6\x12\x00\x07", 4));
  EXPECT_EQ(address_in(answer_to(question, DnsRcode::kRefused, std::nullopt), question), std::nullopt);
  EXPECT_EQ(address_in(answer_to(question, DnsRcode::kNoError, std::nullopt), question), std::nullopt);
  EXPECT_EQ(address_in(answer, dns_question("another.test")), std::nullopt);
  for (std::size_t size = 0; size < answer.size(); ++size) {
    if (size >= question.size() + 16) break;
    EXPECT_EQ(address_in(std::string_view(answer).substr(0, size), question), std::nullopt) << size;
  }
}

TEST(DnsQuestion, IsNotMadeOfWhatIsNoName) {
  EXPECT_EQ(dns_question(""), "");
  EXPECT_EQ(dns_question("a..b"), "");
  EXPECT_EQ(dns_question(".a"), "");
  EXPECT_EQ(dns_question(std::string(64, 'a')), "");
  EXPECT_EQ(dns_question(std::string(254, 'a')), "");
  EXPECT_NE(dns_question(std::string(63, 'a')), "");
}

}  // namespace
}  // namespace sallyport::spawn::posix
