#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "core/egress/ip_address.h"
#include "core/text/printable.h"
#include "sallyport/egress.h"

namespace sallyport {
namespace {

using testing::HasSubstr;
using testing::Not;

HostRuleFields fields_of(std::string_view text) {
  const Result<HostRule> rule = parse_host_rule(text);
  EXPECT_TRUE(rule.has_value()) << text << ": " << (rule ? "" : rule.error().message);
  return rule ? rule->fields() : HostRuleFields{};
}

std::string written_again(std::string_view text) { return host_rule_text(parse_host_rule(text).value()); }

TEST(HostRule, NamesAHostItsPortsItsTargetAndItsBudgets_C24) {
  EXPECT_EQ(fields_of("Example.com."), (HostRuleFields{.name = "example.com"}));
  EXPECT_EQ(fields_of("example.com:22"), (HostRuleFields{.name = "example.com", .port = 22}));
  EXPECT_EQ(fields_of("*.example.com"), (HostRuleFields{.name = "example.com", .any_subdomain = true}));
  EXPECT_EQ(fields_of("registry.test:4873=127.0.0.1:4873"),
            (HostRuleFields{.name = "registry.test", .port = 4873, .target = HostTarget{"127.0.0.1", 4873}}));
  EXPECT_EQ(fields_of("m.test=[0:0::1]:80"), (HostRuleFields{.name = "m.test", .target = HostTarget{"::1", 80}}));
  EXPECT_EQ(fields_of("a.test,down=1G,up=64K"),
            (HostRuleFields{.name = "a.test", .max_up = ByteCount{65536}, .max_down = ByteCount{1ULL << 30}}));
  EXPECT_EQ(fields_of("b\u00fccher.example:443").name, "xn--bcher-kva.example");
}

// Nothing that only resolves there is admitted (C24); a target is an address that the policy's author wrote down.
TEST(HostRule, LeadsToAMetadataServiceOnlyByATarget_C24) {
  EXPECT_EQ(fields_of("m.test:80=169.254.169.254:80"),
            (HostRuleFields{.name = "m.test", .port = 80, .target = HostTarget{"169.254.169.254", 80}}));
  EXPECT_FALSE(parse_host_rule("m.test,class=metadata"));
}

TEST(HostRule, IsWrittenAgainInOneWay) {
  for (const char* text : {"example.com", "*.example.com:8080", "registry.test:4873=127.0.0.1:4873",
                           "m.test=[::1]:80,up=3K,down=5", "a.test,up=1T"}) {
    EXPECT_EQ(written_again(text), text);
  }
  EXPECT_EQ(written_again("A.test,down=1024K,up=2048"), "a.test,up=2K,down=1M");
}

struct BadRule {
  const char* text;
  const char* why;
  const char* hint;
};

class HostRuleRefusal : public testing::TestWithParam<BadRule> {};

TEST_P(HostRuleRefusal, SaysWhyAndWhatToWrite_C24) {
  const Result<HostRule> rule = parse_host_rule(GetParam().text);
  ASSERT_FALSE(rule.has_value()) << GetParam().text << " became " << host_rule_text(*rule);
  EXPECT_NE(rule.error().as<InvalidRequest>(), nullptr);
  EXPECT_THAT(rule.error().message, HasSubstr(GetParam().why)) << GetParam().text;
  EXPECT_THAT(rule.error().hint, HasSubstr(GetParam().hint)) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, HostRuleRefusal,
    testing::Values(
        BadRule{"", "it is empty", "HOST[:PORT]"}, BadRule{":80", "the host is missing", "HOST[:PORT]"},
        BadRule{",up=1K", "the host is missing", "HOST[:PORT]"}, BadRule{"*", "too wide", "name the hosts"},
        BadRule{"*.", "too wide", "name the hosts"}, BadRule{"*:443", "too wide", "name the hosts"},
        BadRule{"*.com", "a whole top-level domain", "*.domain.com"},
        BadRule{"a.*.example", "only at the front", "*.domain.example"},
        BadRule{"*a.example", "only at the front", "*.domain.example"},
        BadRule{"*.*.example", "only at the front", "*.domain.example"},
        BadRule{"https://example.com/x", "no scheme", "write only the host: example.com"},
        BadRule{"https://me:pw@example.com:8443/x", "no scheme", "write only the host: example.com:8443"},
        BadRule{"example.com/path", "no path", "write only the host: example.com"},
        BadRule{"me@example.com", "no user", "write only the host: example.com"},
        BadRule{"10.0.0.1", "an IP address, not a name", "NAME:PORT=ADDR:PORT: mirror.test:443=10.0.0.1:443"},
        BadRule{"0x7f.1:8080", "an IP address, not a name", "mirror.test:8080=127.0.0.1:8080"},
        BadRule{"[::1]:80", "an IP address, not a name", "mirror.test:80=[::1]:80"},
        BadRule{"::1", "an IP address, not a name", "mirror.test:443=[::1]:443"},
        BadRule{"*.127.0.0.1", "an IP address, not a name", "NAME:PORT=ADDR:PORT"},
        BadRule{"localhost", "the jail's own loopback", "NAME:443=127.0.0.1:443"},
        BadRule{"LocalHost.:4873", "the jail's own loopback", "NAME:4873=127.0.0.1:4873"},
        BadRule{"localhost:4873=127.0.0.1:4873", "the jail's own loopback", "NAME:4873=127.0.0.1:4873"},
        BadRule{"*.localhost", "the jail's own loopback", "NAME:443=127.0.0.1:443"},
        BadRule{"a.localhost,private", "the jail's own loopback", "NAME:443=127.0.0.1:443"},
        BadRule{"sallyport", "the jail's own loopback", "NAME:443=127.0.0.1:443"},
        BadRule{"ip6-localhost:80", "the jail's own loopback", "NAME:80=127.0.0.1:80"},
        BadRule{"localhost.localdomain", "the jail's own loopback", "NAME:443=127.0.0.1:443"},
        BadRule{"a.test:53", "port 53 is DNS", "resolve without it"}, BadRule{"a.test:0", "1 to 65535", "HOST[:PORT]"},
        BadRule{"a.test:65536", "1 to 65535", "HOST[:PORT]"}, BadRule{"a.test:", "1 to 65535", "HOST[:PORT]"},
        BadRule{"a.test:+80", "1 to 65535", "HOST[:PORT]"}, BadRule{"a.test:080", "1 to 65535", "HOST[:PORT]"},
        BadRule{"a.test:80 ", "1 to 65535", "HOST[:PORT]"}, BadRule{"a.test:80,443", "unknown option '443'", "up=SIZE"},
        BadRule{"a.test=", "not ADDR:PORT", "127.0.0.1:4873"},
        BadRule{"a.test=b.test:80", "not ADDR:PORT", "127.0.0.1:4873"},
        BadRule{"a.test=127.0.0.1", "not ADDR:PORT", "127.0.0.1:4873"},
        BadRule{"a.test=::1:80", "not ADDR:PORT", "[::1]:4873"},
        BadRule{"a.test=127.0.0.1:0", "not ADDR:PORT", "127.0.0.1:4873"},
        BadRule{"a.test=010.0.0.1:80", "two readings", "write it as 8.0.0.1:80"},
        BadRule{"a.test=127.1:80", "two readings", "write it as 127.0.0.1:80"},
        BadRule{"a.test=[fe80::1%lo]:80", "no zone", "[::1]:4873"},
        BadRule{"a.test=0.0.0.0:80", "is unspecified", "127.0.0.1:4873"},
        BadRule{"a.test=224.0.0.1:80", "is multicast", "127.0.0.1:4873"},
        BadRule{"a.test,upp=1K", "unknown option 'upp'", "did you mean 'up'?"},
        BadRule{"a.test,", "unknown option ''", "up=SIZE"}, BadRule{"a.test,up=", "is not a size", "512K"},
        BadRule{"a.test,up=1,up=2", "given twice", "keep one"},
        BadRule{"a.test,down=0", "allows nothing", "leave the host out"},
        BadRule{"a.test,up=99999999999999999999", "too large", "64M"},
        BadRule{"a..test", "a label is empty", "host.example"}));

// A program may put anything into the fields; they allow no more than the command line does.
TEST(HostRuleOfFields, IsCheckedLikeAWrittenOne_C24) {
  const auto why = [](HostRuleFields fields) {
    const Result<HostRule> rule = HostRule::of(std::move(fields));
    return rule ? "became " + host_rule_text(*rule) : rule.error().message;
  };
  EXPECT_EQ(why({.name = "B\u00fccher.Test.", .port = 8443}), "became xn--bcher-kva.test:8443");
  EXPECT_EQ(why({.name = "m.test", .target = HostTarget{"2001:DB8:0::1", 80}}), "became m.test=[2001:db8::1]:80");
  EXPECT_THAT(why({}), HasSubstr("host"));
  EXPECT_THAT(why({.name = "*.a.test"}), Not(HasSubstr("became")));
  EXPECT_THAT(why({.name = "a.test:80"}), Not(HasSubstr("became")));
  EXPECT_THAT(why({.name = "a.test,private"}), Not(HasSubstr("became")));
  EXPECT_THAT(why({.name = "10.0.0.1"}), HasSubstr("an IP address"));
  EXPECT_THAT(why({.name = "com", .any_subdomain = true}), HasSubstr("too wide"));
  EXPECT_THAT(why({.name = "localhost", .target = HostTarget{"127.0.0.1", 80}}), HasSubstr("own loopback"));
  EXPECT_THAT(why({.name = "a.test", .port = 0}), HasSubstr("1 to 65535"));
  EXPECT_THAT(why({.name = "a.test", .port = 53}), HasSubstr("port 53 is DNS"));
  EXPECT_EQ(why({.name = "a.test", .also_classes = {AddressClass::kReserved}}), "became a.test,class=reserved");
  EXPECT_THAT(why({.name = "a.test", .also_classes = {static_cast<AddressClass>(99)}}),
              HasSubstr("no class of addresses"));
  EXPECT_THAT(why({.name = "a.test", .target = HostTarget{"b.test", 80}}), HasSubstr("not ADDR:PORT"));
  EXPECT_THAT(why({.name = "a.test", .target = HostTarget{"127.0.0.1", 0}}), HasSubstr("not ADDR:PORT"));
  EXPECT_THAT(why({.name = "a.test", .target = HostTarget{"127.1", 80}}), HasSubstr("two readings"));
  EXPECT_THAT(why({.name = "a.test", .max_down = ByteCount{0}}), HasSubstr("allows nothing"));
}

// Mostly valid: each part is one of a few, rarely a wrong one.
std::string any_rule_text() {
  const auto one_of = [](const std::vector<std::string>& right, const std::vector<std::string>& wrong) {
    return *rc::gen::elementOf(*rc::gen::inRange(0, 12) == 0 ? wrong : right);
  };
  return one_of({"", "", "*."}, {"*", "https://", "a*.", "me@"}) +
         one_of({"a.test", "B.Test.", "b\u00fccher.test", "x"}, {"", "127.1", "[::1]", "a..b", "a/b"}) +
         one_of({"", ":80", ":65535", ":1"}, {":0", ":", ":080", ":x"}) +
         one_of({"", "=127.0.0.1:4873", "=[2001:DB8:0::1]:1", "=10.1.2.3:80"}, {"=", "=a.test:80", "=127.1:1"}) +
         one_of({"", ",up=1K", ",up=3", ",up=1048576"}, {",up=", ",upp=1", ","}) +
         one_of({"", ",down=64MiB", ",down=18446744073709551615", ",down=5G"}, {",up=1", ",down=0", " "});
}

RC_GTEST_PROP(HostRule, WhatItIsWrittenAsIsTheSameRuleAgain, ()) {
  const Result<HostRule> rule = parse_host_rule(any_rule_text());
  RC_CLASSIFY(rule.has_value());
  if (!rule) {
    RC_ASSERT(rule.error().message.find('\n') == std::string::npos);
    return;
  }
  const Result<HostRule> again = parse_host_rule(host_rule_text(*rule));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *rule);
}

TEST(HostRuleText, MayHoldANameThatOnlyResemblesLoopback) {
  for (const char* text : {"localhost.test", "mylocalhost", "ip6-localhost:80=[::1]:80"}) {
    EXPECT_TRUE(parse_host_rule(text)) << text;
  }
}

TEST(HostRuleText, LetsANameBePrivateOnlyWhereItSaysSo_C24) {
  EXPECT_FALSE(parse_host_rule("mirror.test")->fields().may_be_private);
  const Result<HostRule> rule = parse_host_rule("mirror.test:8443,up=1M,private");
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->fields().may_be_private);
  EXPECT_EQ(host_rule_text(*rule), "mirror.test:8443,up=1M,private");
  const Result<HostRule> fake = parse_host_rule("mirror.test,class=shared,class=benchmark");
  ASSERT_TRUE(fake);
  EXPECT_EQ(fake->fields().also_classes, (std::vector{AddressClass::kShared, AddressClass::kBenchmark}));
  EXPECT_EQ(host_rule_text(*fake), "mirror.test,class=shared,class=benchmark");
  EXPECT_TRUE(parse_host_rule("mirror.test,class=any")->fields().any_class);
  for (const char* text : {"mirror.test,class", "mirror.test,class=", "mirror.test,class=metadata",
                           "mirror.test,class=multicast", "mirror.test,class=shared,class=shared"}) {
    EXPECT_FALSE(parse_host_rule(text)) << text;
  }
  for (const char* text : {"mirror.test,private=yes", "mirror.test,private,private", "mirror.test,Private"}) {
    EXPECT_FALSE(parse_host_rule(text)) << text;
  }
}

}  // namespace
}  // namespace sallyport
