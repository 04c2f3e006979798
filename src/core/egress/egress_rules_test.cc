// The rules of a run, and the addresses it gives to names.
#include "core/egress/egress_rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "core/egress/address_book.h"

namespace sallyport {
namespace {

using testing::ElementsAre;

EgressRules rules_of(std::initializer_list<std::string_view> texts) {
  std::vector<HostRule> rules;
  for (const std::string_view text : texts) {
    Result<HostRule> rule = parse_host_rule(text);
    EXPECT_TRUE(rule.has_value()) << text;
    if (rule) rules.push_back(std::move(*rule));
  }
  return EgressRules(std::move(rules));
}

// "rule number, check" or "-".
std::string found(const EgressRules& rules, std::string_view name, std::uint16_t port) {
  const std::optional<RuleMatch> match = rules.find(name, port);
  if (!match) return "-";
  static constexpr std::array<std::string_view, 3> kChecks = {"tls", "http", "address"};
  return fmt::format("{} {}", match->rule, kChecks.at(static_cast<std::size_t>(match->check)));
}

TEST(EgressRules, WithoutRulesNothingIsAllowed_C24) {
  const EgressRules none;
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.allows_name("example.com"));
  EXPECT_FALSE(none.allows_name(""));
  EXPECT_EQ(found(none, "example.com", 443), "-");
  EXPECT_TRUE(none.ports().empty());
  EXPECT_TRUE(rules_of({}).empty());
}

TEST(EgressRules, ANameWithoutPortsIsTlsAndHttpOnTheirOwnPortsOnly_C24) {
  const EgressRules rules = rules_of({"example.com"});
  EXPECT_EQ(found(rules, "example.com", 443), "0 tls");
  EXPECT_EQ(found(rules, "example.com", 80), "0 http");
  EXPECT_EQ(found(rules, "example.com", 22), "-");
  EXPECT_EQ(found(rules, "example.co", 443), "-");
  EXPECT_EQ(found(rules, "www.example.com", 443), "-");
  EXPECT_EQ(found(rules, "notexample.com", 443), "-");
  EXPECT_EQ(found(rules, "", 443), "-");
}

TEST(EgressRules, AWildcardCoversEveryNameBelowButNotTheNameItself_C24) {
  const EgressRules rules = rules_of({"*.example.com"});
  EXPECT_TRUE(rules.allows_name("a.example.com"));
  EXPECT_TRUE(rules.allows_name("a.b.example.com"));
  EXPECT_FALSE(rules.allows_name("example.com"));
  EXPECT_FALSE(rules.allows_name("aexample.com"));
  EXPECT_FALSE(rules.allows_name("example.com.evil.test"));
  EXPECT_EQ(found(rules, "a.b.example.com", 80), "0 http");
}

TEST(EgressRules, TheClosestRuleForThePortCounts) {
  const EgressRules rules =
      rules_of({"*.example.com", "*.a.example.com:443", "b.a.example.com:22", "*.example.com:80"});
  EXPECT_EQ(found(rules, "b.a.example.com", 22), "2 address");
  EXPECT_EQ(found(rules, "b.a.example.com", 443), "1 address") << "the exact rule says nothing about 443";
  EXPECT_EQ(found(rules, "c.example.com", 443), "0 tls");
  EXPECT_EQ(found(rules, "c.example.com", 80), "3 address") << "a port that is named outweighs one that is not";
  EXPECT_THAT(rules.ports(), ElementsAre(22, 80, 443));
}

RC_GTEST_PROP(EgressRules, FindAgreesWithLookingAtEveryRule, ()) {
  const auto label = rc::gen::elementOf(std::vector<std::string>{"a", "b", "c"});
  const auto name = [&] {
    std::string text = "test";
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) text = *label + "." + text;
    return text;
  };
  std::vector<HostRule> list;
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    HostRuleFields rule{.name = name(), .any_subdomain = *rc::gen::arbitrary<bool>()};
    if (*rc::gen::arbitrary<bool>()) rule.port = *rc::gen::elementOf(std::vector<std::uint16_t>{22, 80, 443});
    list.push_back(HostRule::of(std::move(rule)).value());
  }
  const std::string asked = name();
  const auto port = *rc::gen::elementOf(std::vector<std::uint16_t>{22, 80, 443});
  const auto covers = [&](const HostRule& rule) {
    const HostRuleFields& fields = rule.fields();
    return fields.any_subdomain ? asked.ends_with("." + fields.name) : asked == fields.name;
  };
  const auto has_port = [&](const HostRule& rule) {
    return rule.fields().port ? rule.fields().port == port : port != 22;
  };
  bool name_allowed = false;
  bool allowed = false;
  for (const HostRule& rule : list) {
    name_allowed = name_allowed || covers(rule);
    allowed = allowed || (covers(rule) && has_port(rule));
  }
  const EgressRules rules(list);
  const std::optional<RuleMatch> match = rules.find(asked, port);
  RC_ASSERT(rules.allows_name(asked) == name_allowed);
  RC_ASSERT(match.has_value() == allowed);
  if (match) RC_ASSERT(covers(list[match->rule]) && has_port(list[match->rule]));
}

TEST(AddressBook, GivesEachNameItsOwnAddressesAndKnowsThemAgain) {
  AddressBook book;
  const std::optional<IpAddress> a4 = book.v4_of("a.test");
  const std::optional<IpAddress> b6 = book.v6_of("b.test");
  ASSERT_TRUE(a4 && b6);
  EXPECT_EQ(book.v4_of("a.test"), a4);
  EXPECT_NE(book.v4_of("b.test"), a4);
  EXPECT_EQ(book.name_of(*a4), "a.test");
  EXPECT_EQ(book.name_of(*b6), "b.test");
  EXPECT_EQ(book.name_of(*book.v6_of("a.test")), "a.test");
  EXPECT_EQ(kind_of(*a4), AddressKind::kBenchmark) << "nobody's real address";
  EXPECT_EQ(kind_of(*b6), AddressKind::kBenchmark);
}

TEST(AddressBook, KnowsNoAddressItDidNotGive) {
  AddressBook book;
  for (const char* text :
       {"198.18.0.0", "198.18.0.1", "198.17.255.255", "0.0.0.1", "2001:2::1", "2001:2:0:1::1", "::1"}) {
    EXPECT_EQ(book.name_of(*parse_ip_address(text)), std::nullopt) << text;
  }
  ASSERT_EQ(ip_address_text(*book.v4_of("a.test")), "198.18.0.1");
  for (const char* text : {"198.18.0.2", "198.19.0.1", "198.18.1.1", "199.18.0.1", "2001:2:1::1", "2001:2::1:1",
                           "2001:2::1:0:1", "::ffff:198.18.0.1"}) {
    EXPECT_EQ(book.name_of(*parse_ip_address(text)), std::nullopt) << text;
  }
}

TEST(AddressBook, IsFullAtItsLimitAndStillKnowsWhatItHas) {
  AddressBook book;
  for (std::size_t i = 0; i < AddressBook::kMostNames; ++i) ASSERT_TRUE(book.v4_of(fmt::format("n{}.test", i)));
  EXPECT_EQ(book.v4_of("one.more.test"), std::nullopt);
  EXPECT_EQ(book.v6_of("one.more.test"), std::nullopt);
  const std::string last = fmt::format("n{}.test", AddressBook::kMostNames - 1);
  EXPECT_EQ(book.name_of(*book.v4_of(last)), last);
  EXPECT_EQ(book.name_of(*book.v6_of(last)), last);
  AddressBook moved = std::move(book);
  EXPECT_EQ(moved.name_of(*moved.v4_of("n7.test")), "n7.test");
}

TEST(AddressBook, GivesAddressesOfLoopbackWhereNothingElseCanBeReached) {
  AddressBook book(AddressRange::kLoopback, 2);
  EXPECT_FALSE(book.has_v6());
  EXPECT_EQ(ip_address_text(*book.v4_of("a.test")), "127.64.0.1");
  EXPECT_EQ(ip_address_text(*book.v4_of("b.test")), "127.64.0.2");
  EXPECT_EQ(book.v4_of("c.test"), std::nullopt) << "nobody listens there";
  EXPECT_EQ(book.v6_of("a.test"), std::nullopt);
  EXPECT_EQ(book.name_of(*book.v4_of("b.test")), "b.test");
  for (const char* text :
       {"127.0.0.1", "127.64.0.0", "127.64.0.3", "127.65.0.1", "126.64.0.1", "198.18.0.1", "::1", "2001:2::1"}) {
    EXPECT_EQ(book.name_of(*parse_ip_address(text)), std::nullopt) << text;
  }
}

TEST(EgressRules, CountTheNamesThatCanBeGivenAddresses) {
  const auto count = [](std::initializer_list<const char*> texts) {
    std::vector<HostRule> rules;
    for (const char* text : texts) rules.push_back(*parse_host_rule(text));
    return EgressRules(std::move(rules)).countable_names();
  };
  EXPECT_EQ(count({}), 0U);
  EXPECT_EQ(count({"a.test", "a.test:8080", "b.test"}), 2U);
  EXPECT_EQ(count({"a.test", "*.b.test", "*.c.test"}), 1 + EgressRules::kMostBelow);
}

}  // namespace
}  // namespace sallyport
