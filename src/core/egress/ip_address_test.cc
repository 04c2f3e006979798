#include "core/egress/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <rapidcheck/gtest.h>

#include <cstring>

namespace sallyport {
namespace {

IpAddress address_of(std::string_view text) {
  const std::optional<IpAddress> address = parse_ip_address(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address.value_or(IpAddress{});
}

IpAddress any_v6_address() {
  IpAddress address{.v6 = true};
  // Zeros are frequent in addresses, and compressing them is where mistakes are made.
  for (std::uint8_t& byte : address.bytes)
    byte = *rc::gen::inRange(0, 2) == 0 ? 0 : *rc::gen::arbitrary<std::uint8_t>();
  return address;
}

IpAddress any_v4_address() {
  const auto byte = [] { return *rc::gen::arbitrary<std::uint8_t>(); };
  return IpAddress::v4(byte(), byte(), byte(), byte());
}

// `count` low bytes of a number, as one of the parts inet_aton reads.
std::string any_part_spelling(std::uint32_t value) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return fmt::format("{}", value);
    case 1:
      return fmt::format("0{:o}", value);
    case 2:
      return fmt::format("0x{:x}", value);
    default:
      return fmt::format("0X{:0{}X}", value, *rc::gen::inRange(1, 12));
  }
}

TEST(IpAddress, ReadsEverySpellingOfAnIpv4Address) {
  const IpAddress loopback = IpAddress::v4(127, 0, 0, 1);
  for (const char* text : {"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "017700000001", "0x7f.1",
                           "0177.0.0.01", "0X7F.0.0.0x1", "127.0.0.1.", "0x7f.0.0.1."}) {
    EXPECT_EQ(address_of(text), loopback) << text;
  }
  for (const char* text : {"", ".", "1..2", "256.1.1.1", "1.2.3.256", "1.2.3.4.5", "0x", "08", "1.2.3.", "4294967296",
                           "1.16777216", "a.b", "1 ", " 1", "1e3", "+1", "-1", "127.0.0.1..", "[127.0.0.1]"}) {
    const bool is_short = std::string_view(text) == "1.2.3.";  // 1.2.0.3 with a trailing dot
    EXPECT_EQ(parse_ip_address(text).has_value(), is_short) << text;
  }
}

TEST(IpAddress, ReadsIpv6InAndOutOfBracketsWithIpv4AndZone) {
  EXPECT_EQ(ip_address_text(address_of("[::ffff:127.0.0.1]")), "::ffff:127.0.0.1");
  EXPECT_EQ(ip_address_text(address_of("FE80::1%eth0")), "fe80::1");
  EXPECT_EQ(ip_address_text(address_of("[fe80::1%25]")), "fe80::1");
  EXPECT_EQ(ip_address_text(address_of("2001:0db8:0000:0000:0001:0000:0000:0001")), "2001:db8::1:0:0:1");
  EXPECT_EQ(ip_address_text(address_of("64:ff9b::192.0.2.33")), "64:ff9b::c000:221");
  EXPECT_EQ(ip_address_text(address_of("::")), "::");
  EXPECT_EQ(ip_address_text(address_of("1:0:3:4:5:6:7:8")), "1:0:3:4:5:6:7:8");
  for (const char* text : {":",
                           ":::",
                           "1::2::3",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "12345::",
                           "::1%",
                           "[::1",
                           "::1]",
                           "[]",
                           "g::",
                           "1:2:3:4::5:6:7:8",
                           "::127.1",
                           "::0127.0.0.1",
                           "1.2.3.4::",
                           "::1.2.3",
                           ":1:2:3:4:5:6:7:8",
                           "1:2:3:4:5:6:7:",
                           "::1%a b",
                           "[::1%]",
                           "1:2:3:4:5:6:7:1.2.3.4"}) {
    EXPECT_FALSE(parse_ip_address(text).has_value()) << text;
  }
}

RC_GTEST_PROP(IpAddress, ItsTextIsReadBackWhateverItsFamily, ()) {
  const IpAddress address = *rc::gen::arbitrary<bool>() ? any_v6_address() : any_v4_address();
  RC_ASSERT(parse_ip_address(ip_address_text(address)) == address);
}

RC_GTEST_PROP(IpAddress, AnySpellingInetAtonKnowsIsRecognised, ()) {
  const IpAddress address = any_v4_address();
  const auto parts = *rc::gen::inRange<std::size_t>(1, 5);
  std::string text;
  for (std::size_t i = 0; i + 1 < parts; ++i) text += any_part_spelling(address.bytes[i]) + ".";
  std::uint32_t last = 0;
  for (std::size_t i = parts - 1; i < 4; ++i) last = last << 8 | address.bytes[i];
  text += any_part_spelling(last);
  RC_ASSERT(parse_ip_address(text) == address);
}

RC_GTEST_PROP(IpAddress, Ipv6IsReadAsTheSystemReadsIt, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::weightedElement<char>({{8, ':'}, {4, '0'}, {2, '1'}, {1, 'f'}, {1, 'A'}, {2, '.'}, {1, 'g'}, {1, '2'}}));
  RC_PRE(text.find(':') != std::string::npos);
  IpAddress wanted{.v6 = true};
  const bool valid = inet_pton(AF_INET6, text.c_str(), wanted.bytes.data()) == 1;
  const std::optional<IpAddress> read = parse_ip_address(text);
  RC_ASSERT(read.has_value() == valid);
  if (valid) RC_ASSERT(*read == wanted);
}

RC_GTEST_PROP(IpAddress, Ipv4IsReadAsTheSystemReadsIt, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::weightedElement<char>({{6, '0'}, {4, '1'}, {3, 'x'}, {1, 'f'}, {3, '.'}, {1, '8'}, {1, '2'}}));
  RC_PRE(!text.ends_with('.'));
  in_addr wanted{};
  const bool valid = inet_aton(text.c_str(), &wanted) == 1;
  const std::optional<IpAddress> read = parse_ip_address(text);
  RC_ASSERT(read.has_value() == valid);
  if (valid) RC_ASSERT(std::memcmp(read->bytes.data(), &wanted, sizeof wanted) == 0);
}

struct SpecialAddress {
  const char* text;
  const char* kind;
};

class KindOf : public testing::TestWithParam<SpecialAddress> {};

TEST_P(KindOf, SaysWhatAnAddressIs_C24) {
  EXPECT_EQ(name_of(kind_of(address_of(GetParam().text))), GetParam().kind) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Ipv4, KindOf,
    testing::Values(SpecialAddress{"8.8.8.8", "public"}, SpecialAddress{"93.184.216.34", "public"},
                    SpecialAddress{"172.15.255.255", "public"}, SpecialAddress{"172.32.0.0", "public"},
                    SpecialAddress{"100.63.255.255", "public"}, SpecialAddress{"100.128.0.0", "public"},
                    SpecialAddress{"198.17.255.255", "public"}, SpecialAddress{"198.20.0.0", "public"},
                    SpecialAddress{"223.255.255.255", "public"}, SpecialAddress{"0.0.0.0", "unspecified"},
                    SpecialAddress{"0.1.2.3", "unspecified"}, SpecialAddress{"10.255.0.1", "private"},
                    SpecialAddress{"172.16.0.1", "private"}, SpecialAddress{"172.31.255.255", "private"},
                    SpecialAddress{"192.168.1.1", "private"}, SpecialAddress{"100.64.0.1", "shared"},
                    SpecialAddress{"127.8.9.1", "loopback"}, SpecialAddress{"169.254.169.254", "metadata"},
                    SpecialAddress{"169.254.170.2", "metadata"}, SpecialAddress{"100.100.100.200", "metadata"},
                    SpecialAddress{"168.63.129.16", "metadata"}, SpecialAddress{"169.254.1.1", "link-local"},
                    SpecialAddress{"192.0.0.8", "reserved"}, SpecialAddress{"192.0.2.1", "documentation"},
                    SpecialAddress{"192.88.99.1", "reserved"}, SpecialAddress{"198.18.0.1", "benchmark"},
                    SpecialAddress{"198.19.255.255", "benchmark"}, SpecialAddress{"198.51.100.7", "documentation"},
                    SpecialAddress{"203.0.113.7", "documentation"}, SpecialAddress{"224.0.0.1", "multicast"},
                    SpecialAddress{"239.255.255.255", "multicast"}, SpecialAddress{"240.0.0.1", "reserved"},
                    SpecialAddress{"255.255.255.255", "broadcast"}));

INSTANTIATE_TEST_SUITE_P(
    Ipv6, KindOf,
    testing::Values(SpecialAddress{"2606:2800:220:1::1", "public"}, SpecialAddress{"2001:4860:4860::8888", "public"},
                    SpecialAddress{"2620:4f:8000::1", "public"}, SpecialAddress{"::", "unspecified"},
                    SpecialAddress{"::1", "loopback"}, SpecialAddress{"fd00:ec2::254", "metadata"},
                    SpecialAddress{"fd20:ce::254", "metadata"}, SpecialAddress{"fe80::a9fe:a9fe", "metadata"},
                    SpecialAddress{"fc00::1", "private"}, SpecialAddress{"fdff::1", "private"},
                    SpecialAddress{"fe80::1", "link-local"}, SpecialAddress{"febf::1", "link-local"},
                    SpecialAddress{"fec0::1", "site-local"}, SpecialAddress{"ff02::1", "multicast"},
                    SpecialAddress{"100::1", "discard"}, SpecialAddress{"100:0:0:1::1", "discard"},
                    SpecialAddress{"2001:2::1", "benchmark"}, SpecialAddress{"2001:db8::1", "documentation"},
                    SpecialAddress{"3fff:fff::1", "documentation"}, SpecialAddress{"2001:20::1", "reserved"},
                    SpecialAddress{"5f00::1", "reserved"}, SpecialAddress{"4000::1", "reserved"},
                    SpecialAddress{"::ffff:0:127.0.0.1", "reserved"}));

INSTANTIATE_TEST_SUITE_P(
    Ipv4Inside, KindOf,
    testing::Values(
        SpecialAddress{"::ffff:8.8.8.8", "public"}, SpecialAddress{"::ffff:127.0.0.1", "loopback"},
        SpecialAddress{"::127.0.0.1", "loopback"}, SpecialAddress{"::8.8.8.8", "reserved"},
        SpecialAddress{"64:ff9b::8.8.8.8", "public"}, SpecialAddress{"64:ff9b::169.254.169.254", "metadata"},
        SpecialAddress{"64:ff9b::10.0.0.1", "private"},
        // Local-use NAT64 with prefixes of 48, 56, 64 and 96 bits.
        SpecialAddress{"64:ff9b:1:808:8:800::", "public"}, SpecialAddress{"64:ff9b:1:8:8:808::", "public"},
        SpecialAddress{"64:ff9b:1:0:8:808:800::", "public"}, SpecialAddress{"64:ff9b:1::8.8.8.8", "public"},
        SpecialAddress{"64:ff9b:1:a00:0:100::", "private"}, SpecialAddress{"64:ff9b:1:0a:0:1::", "private"},
        SpecialAddress{"64:ff9b:1:0:7f:0:100::", "loopback"}, SpecialAddress{"64:ff9b:1::127.0.0.1", "loopback"},
        SpecialAddress{"64:ff9b:1::", "unspecified"}, SpecialAddress{"2002:808:808::1", "public"},
        SpecialAddress{"2002:7f00:1::1", "loopback"}, SpecialAddress{"2002:c0a8:101::1", "private"},
        SpecialAddress{"2001:0:4136:e378:8000:63bf:3fff:fdd2", "documentation"},  // its client is 192.0.2.45
        SpecialAddress{"2001:0:808:808::f7f7:f7f7", "public"}, SpecialAddress{"2001:0:a00:1::f7f7:f7f7", "private"},
        SpecialAddress{"2606:2800::5efe:10.0.0.1", "private"},
        SpecialAddress{"2606:2800::200:5efe:127.0.0.1", "loopback"},
        SpecialAddress{"2606:2800::5efe:8.8.8.8", "public"}));

TEST(AddressKind, IsAdmittedByARuleOnlyWhenPublicOrOfOneOfItsClasses_C24) {
  const HostRuleFields plain{.name = "a.test"};
  const HostRuleFields own{.name = "a.test", .may_be_private = true};
  const HostRuleFields shared{.name = "a.test", .also_classes = {AddressClass::kShared}};
  const HostRuleFields any{.name = "a.test", .any_class = true};
  for (const HostRuleFields& rule : {plain, own, shared, any}) {
    EXPECT_TRUE(rule_admits(rule, AddressKind::kPublic));
    for (const AddressKind never : {AddressKind::kMetadata, AddressKind::kUnspecified, AddressKind::kMulticast,
                                    AddressKind::kBroadcast, AddressKind::kDiscard, static_cast<AddressKind>(200)}) {
      EXPECT_FALSE(rule_admits(rule, never)) << name_of(never);
      EXPECT_FALSE(class_of(never)) << name_of(never);
    }
  }
  EXPECT_FALSE(rule_admits(plain, AddressKind::kPrivate));
  EXPECT_TRUE(rule_admits(own, AddressKind::kPrivate));
  EXPECT_FALSE(rule_admits(own, AddressKind::kReserved));
  EXPECT_TRUE(rule_admits(shared, AddressKind::kShared));
  EXPECT_FALSE(rule_admits(shared, AddressKind::kPrivate));
  EXPECT_TRUE(rule_admits(any, AddressKind::kReserved));
}

TEST(AddressKind, HasTheNameOfItsClass) {
  for (const std::string_view name :
       {"private", "shared", "loopback", "link-local", "site-local", "benchmark", "documentation", "reserved"}) {
    const std::optional<AddressClass> found = address_class_named(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(name_of(*found), name);
  }
  for (const std::string_view name : {"public", "metadata", "multicast", "unknown", ""}) {
    EXPECT_FALSE(address_class_named(name)) << name;
  }
}

RC_GTEST_PROP(KindOfV4, IsTheSameInsideMappedAndNat64Addresses, ()) {
  const IpAddress v4 = any_v4_address();
  IpAddress mapped{.v6 = true, .bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}};
  IpAddress nat64{.v6 = true, .bytes = {0x00, 0x64, 0xff, 0x9b}};
  for (IpAddress* outer : {&mapped, &nat64}) {
    std::copy_n(v4.bytes.begin(), 4, outer->bytes.begin() + 12);
    RC_ASSERT(kind_of(*outer) == kind_of(v4));
  }
}

}  // namespace
}  // namespace sallyport
