#include "egress/denial_log.h"

#include <gmock/gmock.h>

#include "egress/upstream_address.h"

namespace sallyport {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class Heard final : public EventSink {
 public:
  void emit(const Event& event) override { names.emplace_back(event.name); }
  std::vector<std::string> names{};
};

DenialLog make_log(EventSink* sink = nullptr) { return {*EventFd::create(), sink}; }

TEST(DenialLog, CountsEachHostPortAndReasonInOrderAndReportsEachOnce) {
  Heard heard;
  DenialLog log = make_log(&heard);
  log.add("b.test", 443, DenialReason::kPortNotAllowed);
  log.add("a.test", 443, DenialReason::kPortNotAllowed);
  log.add("b.test", 443, DenialReason::kPortNotAllowed);
  log.add("b.test", 443, DenialReason::kNotTls);
  const std::vector<Denial> denials = log.take();
  ASSERT_THAT(denials, SizeIs(3));
  EXPECT_EQ(denials[0].host, "b.test");
  EXPECT_EQ(denials[0].count, 2U);
  EXPECT_EQ(denials[1].host, "a.test");
  EXPECT_EQ(denials[2].reason, DenialReason::kNotTls);
  EXPECT_NE(denials[0].time.time_since_epoch().count(), 0);
  EXPECT_THAT(heard.names, ElementsAre("subproc.egress.denied", "subproc.egress.denied", "subproc.egress.denied"));
}

TEST(DenialLog, IsBoundedInNumber) {
  DenialLog log = make_log();
  for (int i = 0; i < 5000; ++i) log.add(std::to_string(i) + ".test", 1, DenialReason::kHostNotAllowed);
  log.add("7.test", 1, DenialReason::kHostNotAllowed);
  const std::vector<Denial> denials = log.take();
  ASSERT_THAT(denials, SizeIs(DenialLog::kMostEntries + 1));
  EXPECT_EQ(denials[7].count, 2U);
  EXPECT_EQ(denials.back().reason, DenialReason::kMoreDenials);
  EXPECT_EQ(denials.back().count, 4000U);
}

TEST(DenialLog, MakesNamesPrintableAndShort) {
  DenialLog log = make_log();
  log.add(std::string("a\0\x1b[31m\xe2\x80\xae", 10), 1, DenialReason::kHostNotAllowed);
  log.add(std::string(100'000, '\xff'), 1, DenialReason::kHostNotAllowed);
  const std::vector<Denial> denials = log.take();
  EXPECT_EQ(denials[0].host, "a\\x00\\x1b[31m\\u{202e}");
  EXPECT_LE(denials[1].host.size(), DenialLog::kLongestHost);
}

TEST(DenialLog, SaysHowToAllowAnAddressButNeverAMetadataService) {
  DenialLog log = make_log();
  for (const char* address : {"192.0.2.7", "169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"}) {
    log.add(address, 80, DenialReason::kAddressWithoutName);
  }
  const std::vector<Denial> denials = log.take();
  ASSERT_THAT(denials, SizeIs(5));
  EXPECT_EQ(denials[0].hint, "`allowed_hosts` NAME:80=192.0.2.7:80, and let the tool use NAME");
  for (const Denial& denial : std::span(denials).subspan(1)) EXPECT_EQ(denial.hint, "") << denial.host;
}

TEST(DenialLog, SaysWhatANameLedToAndWhichClassWouldAdmitIt) {
  DenialLog log = make_log();
  log.add("a.test", 443, DenialReason::kSpecialAddress, AddressKind::kShared);
  log.add("b.test", 4873, DenialReason::kSpecialAddress, AddressKind::kBenchmark);
  log.add("c.test", 443, DenialReason::kSpecialAddress, AddressKind::kMetadata);
  log.add("d.test", 443, DenialReason::kSpecialAddress);
  const std::vector<Denial> denials = log.take();
  ASSERT_THAT(denials, SizeIs(4));
  EXPECT_EQ(denials[0].address, AddressKind::kShared);
  EXPECT_EQ(reason_text(denials[0]), "shared address");
  EXPECT_EQ(denials[0].hint, "`allowed_hosts` a.test,class=shared");
  EXPECT_EQ(reason_text(denials[1]), "benchmark address");
  EXPECT_EQ(denials[1].hint, "`allowed_hosts` b.test:4873,class=benchmark");
  EXPECT_EQ(reason_text(denials[2]), "metadata address");
  EXPECT_EQ(denials[2].hint, "");
  EXPECT_EQ(reason_text(denials[3]), "special address");
  EXPECT_EQ(denials[3].hint, "");
}

TEST(DenialLog, OfARunWithoutHostsSaysSoOfEveryNameAndAddress) {
  DenialLog log(*EventFd::create(), nullptr, true);
  log.add("a.test", 0, DenialReason::kHostNotAllowed);
  log.add("192.0.2.7", 80, DenialReason::kAddressWithoutName);
  log.add("192.0.2.7", 53, DenialReason::kNotTcp);
  const std::vector<Denial> denials = log.take();
  ASSERT_THAT(denials, SizeIs(3));
  EXPECT_EQ(denials[0].reason, DenialReason::kNoHostAllowed);
  EXPECT_EQ(reason_text(denials[0]), "no host is allowed");
  EXPECT_EQ(denials[0].hint, "`allowed_hosts` a.test");
  EXPECT_EQ(denials[1].reason, DenialReason::kNoHostAllowed);
  EXPECT_EQ(denials[2].reason, DenialReason::kNotTcp);
}

TEST(UpstreamAddress, LetsAMetadataServiceDecideTheReason_C24) {
  const std::vector<IpAddress> found = {IpAddress::v4(10, 0, 0, 1), IpAddress::v4(169, 254, 169, 254),
                                        IpAddress::v4(127, 0, 0, 1)};
  const VettedAddresses vetted = vet_addresses(found, {});
  EXPECT_EQ(vetted.why_none, DenialReason::kSpecialAddress);
  EXPECT_EQ(vetted.special, AddressKind::kMetadata);
  EXPECT_EQ(vet_addresses(std::span(found).first(1), {}).special, AddressKind::kPrivate);
  HostRuleFields any{.name = "a.test", .any_class = true};
  EXPECT_THAT(vet_addresses(found, {}, any).usable, ElementsAre(found[0], found[2]));
}

TEST(UpstreamAddress, TakesTurnsBetweenTheFamiliesBeginningWithIpv6) {
  const auto v6 = [](std::uint8_t last) {
    return IpAddress{.v6 = true, .bytes = {0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
  };
  const auto v4 = [](std::uint8_t last) { return IpAddress::v4(93, 184, 216, last); };
  const std::vector<IpAddress> found = {v4(1), v4(2), v6(1), IpAddress::v4(10, 0, 0, 1), v4(3)};
  EXPECT_THAT(vet_addresses(found, {}).usable, ElementsAre(v6(1), v4(1), v4(2), v4(3)));
  const std::vector<IpAddress> own = {v6(1), v4(1), v4(2), v4(3)};
  EXPECT_EQ(vet_addresses(found, own).why_none, DenialReason::kOwnAddress);
  EXPECT_EQ(vet_addresses({}, own).why_none, DenialReason::kNameDoesNotResolve);
}

TEST(UpstreamAddress, KnowsThisMachinesOwn) {
  const std::optional<std::vector<IpAddress>> own = own_addresses();
  ASSERT_TRUE(own);
}

}  // namespace
}  // namespace sallyport
