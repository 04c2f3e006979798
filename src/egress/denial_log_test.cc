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
  EXPECT_EQ(denials[2].reason, "not tls");
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
  EXPECT_EQ(denials.back().reason, "more denials");
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
