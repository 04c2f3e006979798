#include "core/egress/dns_message.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "core/egress/byte_reader.h"

namespace sallyport {
namespace {

using DnsMessage = std::vector<std::uint8_t>;

void add_u16(DnsMessage& message, unsigned value) {
  message.push_back(static_cast<std::uint8_t>(value >> 8));
  message.push_back(static_cast<std::uint8_t>(value));
}

void add_labels(DnsMessage& message, const std::vector<std::string>& labels) {
  for (const std::string& label : labels) {
    message.push_back(static_cast<std::uint8_t>(label.size()));
    message.insert(message.end(), label.begin(), label.end());
  }
  message.push_back(0);
}

struct QueryShape {
  unsigned flags = 0x0100;
  unsigned questions = 1;
  unsigned answers = 0;
  unsigned additionals = 0;
  std::vector<std::string> labels{"example", "com"};
  unsigned type = kDnsTypeA;
};

DnsMessage query_bytes(const QueryShape& shape) {
  DnsMessage message;
  for (const unsigned value : {0xbeefU, shape.flags, shape.questions, shape.answers, 0U, shape.additionals}) {
    add_u16(message, value);
  }
  add_labels(message, shape.labels);
  add_u16(message, shape.type);
  add_u16(message, 1);
  return message;
}

void add_opt(DnsMessage& message, unsigned udp_size, unsigned version = 0) {
  message.push_back(0);
  add_u16(message, 41);
  add_u16(message, udp_size);
  add_u16(message, version);
  add_u16(message, 0);
  add_u16(message, 0);
}

// An answer, parsed independently of the code that wrote it.
struct ReadAnswer {
  unsigned id = 0;
  unsigned flags = 0;
  unsigned rcode = 0;
  std::string name{};
  std::optional<IpAddress> address{};
  bool soa = false;
  bool opt = false;
};

std::string read_labels(ByteReader& reader) {
  std::string name;
  for (std::uint8_t length = reader.u8(); length != 0; length = reader.u8()) {
    const auto label = reader.take(length);
    name.append(name.empty() ? "" : ".").append(label.begin(), label.end());
  }
  return name;
}

ReadAnswer read_answer(const DnsMessage& message) {
  ByteReader reader(message);
  ReadAnswer answer{.id = reader.u16(), .flags = reader.u16()};
  answer.rcode = answer.flags & 0xfU;
  const unsigned questions = reader.u16();
  const unsigned records = reader.u16() + reader.u16();
  const unsigned additionals = reader.u16();
  if (questions == 1) {
    answer.name = read_labels(reader);
    (void)reader.number(4);
  }
  for (unsigned i = 0; i < records + additionals; ++i) {
    const std::uint8_t first = reader.u8();
    if (first == 0xc0) {
      EXPECT_EQ(reader.u8(), 12);
    }
    const unsigned type = reader.u16();
    (void)reader.number(2 + 4);
    const ByteReader data = reader.sized(2);
    if (type == kDnsTypeA || type == kDnsTypeAaaa) {
      answer.address = IpAddress{.v6 = type == kDnsTypeAaaa};
      EXPECT_EQ(data.size(), answer.address->v6 ? 16U : 4U);
      std::copy(data.rest().begin(), data.rest().end(), answer.address->bytes.begin());
    }
    answer.soa = answer.soa || type == 6;
    answer.opt = answer.opt || type == 41;
  }
  EXPECT_TRUE(reader.ended());
  EXPECT_LE(message.size(), 512U);
  return answer;
}

TEST(DnsQuery, IsReadWithItsQuestionAndItsExtension) {
  DnsMessage message = query_bytes({.additionals = 1, .labels = {"WWW", "ex_a-1", "test"}, .type = kDnsTypeAaaa});
  add_opt(message, 1232);
  const std::optional<ParsedDnsQuery> parsed = parse_dns_query(message);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_FALSE(parsed->refuse_with.has_value());
  EXPECT_EQ(parsed->query.id, 0xbeef);
  EXPECT_TRUE(parsed->query.recursion_desired);
  EXPECT_TRUE(parsed->query.edns);
  EXPECT_EQ(parsed->query.udp_size, 1232);
  EXPECT_EQ(parsed->query.name, "WWW.ex_a-1.test");
  EXPECT_EQ(parsed->query.type, kDnsTypeAaaa);
  EXPECT_EQ(parsed->query.klass, 1);
}

TEST(DnsQuery, ShowsBytesAHostNameCannotHave) {
  using namespace std::string_literals;
  const auto parsed = parse_dns_query(query_bytes({.labels = {"a.b", "c\0d"s, "\xff*", "\\"}}));
  ASSERT_TRUE(parsed && !parsed->refuse_with);
  EXPECT_EQ(parsed->query.name, "a\\046b.c\\000d.\\255\\042.\\092");
  const auto root = parse_dns_query(query_bytes({.labels = {}}));
  ASSERT_TRUE(root && !root->refuse_with);
  EXPECT_EQ(root->query.name, "");
}

TEST(DnsQuery, ThatIsNoneIsLeftUnanswered) {
  EXPECT_FALSE(parse_dns_query({}).has_value());
  EXPECT_FALSE(parse_dns_query(query_bytes({.flags = 0x8180})).has_value()) << "a response";
  const DnsMessage whole = query_bytes({});
  EXPECT_FALSE(parse_dns_query(std::span(whole).first(11)).has_value());
}

TEST(DnsQuery, ThatIsMalformedOrForAnotherServiceIsRefused) {
  const auto rcode_for = [](const DnsMessage& message) {
    const auto parsed = parse_dns_query(message);
    EXPECT_TRUE(parsed.has_value());
    const ParsedDnsQuery query = parsed.value_or(ParsedDnsQuery{});
    EXPECT_EQ(query.query.id, 0xbeef);
    EXPECT_TRUE(query.query.question.empty());
    return query.refuse_with;
  };
  EXPECT_EQ(rcode_for(query_bytes({.flags = 0x2800})), DnsRcode::kNotImp) << "an update";
  EXPECT_EQ(rcode_for(query_bytes({.questions = 0})), DnsRcode::kFormErr);
  EXPECT_EQ(rcode_for(query_bytes({.questions = 2})), DnsRcode::kFormErr);
  EXPECT_EQ(rcode_for(query_bytes({.answers = 1})), DnsRcode::kFormErr);
  EXPECT_EQ(rcode_for(query_bytes({.additionals = 1})), DnsRcode::kFormErr) << "promised, not there";
  const std::string label(63, 'a');
  EXPECT_EQ(rcode_for(query_bytes({.labels = {label, label, label, label}})), DnsRcode::kFormErr) << "over 255 bytes";
  DnsMessage pointer = query_bytes({.labels = {}});
  pointer[12] = 0xc0;
  pointer.insert(pointer.begin() + 13, 12);
  EXPECT_EQ(rcode_for(pointer), DnsRcode::kFormErr) << "a pointer to itself";
  DnsMessage trailing = query_bytes({});
  trailing.push_back(0);
  EXPECT_EQ(rcode_for(trailing), DnsRcode::kFormErr);
  DnsMessage two_opts = query_bytes({.additionals = 2});
  add_opt(two_opts, 512);
  add_opt(two_opts, 512);
  EXPECT_EQ(rcode_for(two_opts), DnsRcode::kFormErr);
  DnsMessage version = query_bytes({.additionals = 1});
  add_opt(version, 512, 1);
  EXPECT_EQ(rcode_for(version), DnsRcode::kFormErr);
}

DnsQuery parsed_query(const DnsMessage& message) { return parse_dns_query(message).value_or(ParsedDnsQuery{}).query; }

TEST(DnsAnswer, CarriesTheAddressOfTheAskedFamilyOnly) {
  const IpAddress v4 = IpAddress::v4(198, 18, 0, 1);
  const IpAddress v6{.v6 = true, .bytes = {0x20, 0x01, 0, 2}};
  const DnsQuery a = parsed_query(query_bytes({}));
  const DnsQuery aaaa = parsed_query(query_bytes({.type = kDnsTypeAaaa}));
  const DnsQuery https = parsed_query(query_bytes({.type = 65}));
  EXPECT_EQ(read_answer(write_dns_answer(a, DnsRcode::kNoError, v4)).address, v4);
  EXPECT_EQ(read_answer(write_dns_answer(aaaa, DnsRcode::kNoError, v6)).address, v6);
  for (const auto& [query, address] : {std::pair{a, v6}, std::pair{aaaa, v4}, std::pair{https, v4}}) {
    const ReadAnswer nodata = read_answer(write_dns_answer(query, DnsRcode::kNoError, address));
    EXPECT_EQ(nodata.address, std::nullopt);
    EXPECT_TRUE(nodata.soa);
    EXPECT_EQ(nodata.rcode, 0U);
  }
  EXPECT_EQ(read_answer(write_dns_answer(a, DnsRcode::kNxDomain, v4)).address, std::nullopt);
}

TEST(DnsAnswer, SaysNoInAWayThatIsCachedAndFailsWithoutIt) {
  const DnsQuery query = parsed_query(query_bytes({}));
  const ReadAnswer nx = read_answer(write_dns_answer(query, DnsRcode::kNxDomain, std::nullopt));
  EXPECT_EQ(nx.rcode, 3U);
  EXPECT_TRUE(nx.soa);
  EXPECT_EQ(nx.name, "example.com");
  EXPECT_EQ(nx.flags & 0x8180U, 0x8180U) << "a response, recursion desired and available";
  const ReadAnswer bad = read_answer(write_dns_answer({.id = 7}, DnsRcode::kFormErr, std::nullopt));
  EXPECT_EQ(bad.id, 7U);
  EXPECT_EQ(bad.rcode, 1U);
  EXPECT_FALSE(bad.soa);
}

RC_GTEST_PROP(DnsAnswer, IsReadBackWhateverTheNameAndTheVerdict, ()) {
  QueryShape shape{.flags = *rc::gen::elementOf(std::vector<unsigned>{0, 0x0100, 0x0120}), .labels = {}};
  std::string name;
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i) {
    const auto label =
        *rc::gen::resize(50, rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
    shape.labels.push_back(label);
    name += (name.empty() ? "" : ".") + label;
  }
  const bool edns = *rc::gen::arbitrary<bool>();
  shape.additionals = edns ? 1 : 0;
  shape.type = *rc::gen::elementOf(std::vector<unsigned>{kDnsTypeA, kDnsTypeAaaa, 16, 65, 255});
  DnsMessage message = query_bytes(shape);
  if (edns) add_opt(message, 4096);
  const std::optional<ParsedDnsQuery> parsed = parse_dns_query(message);
  RC_ASSERT(parsed && !parsed->refuse_with);
  RC_ASSERT(parsed->query.name == name);
  const IpAddress address{.v6 = shape.type == kDnsTypeAaaa, .bytes = {1, 2, 3, 4}};
  const ReadAnswer answer = read_answer(write_dns_answer(parsed->query, DnsRcode::kNoError, address));
  RC_ASSERT(answer.name == name);
  RC_ASSERT(answer.id == 0xbeefU);
  RC_ASSERT(answer.opt == edns);
  RC_ASSERT((answer.flags & 0x0100U) == (shape.flags & 0x0100U));
  const bool has_address = shape.type == kDnsTypeA || shape.type == kDnsTypeAaaa;
  RC_ASSERT(answer.address.has_value() == has_address);
  RC_ASSERT(answer.soa == !has_address);
}

RC_GTEST_PROP(DnsQuery, AnyBytesAreAQueryARefusalOrNothing, (DnsMessage message)) {
  if (message.size() > 2) message[2] &= 0x07U;  // otherwise hardly any message would be a query
  const std::optional<ParsedDnsQuery> parsed = parse_dns_query(message);
  RC_ASSERT(parsed.has_value() == (message.size() >= 12));
  if (!parsed) return;
  const DnsMessage answer =
      write_dns_answer(parsed->query, parsed->refuse_with.value_or(DnsRcode::kNxDomain), std::nullopt);
  RC_ASSERT(answer.size() <= 512);
}

}  // namespace
}  // namespace sallyport
