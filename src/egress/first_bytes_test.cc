// What a refused request becomes: the reason of its denial, and the answer to the client (C24).
#include "egress/first_bytes.h"

#include <gmock/gmock.h>

namespace sallyport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(RefuseRequest, TellsOtherProtocolsUpgradesAndAmbiguousRequestsApart_C24) {
  const struct {
    HttpFault fault;
    DenialReason reason;
  } rows[] = {{HttpFault::kNotARequest, DenialReason::kNotHttp},
              {HttpFault::kConnect, DenialReason::kHttpUpgrade},
              {HttpFault::kHttp2, DenialReason::kHttpUpgrade},
              {HttpFault::kUpgrade, DenialReason::kHttpUpgrade},
              {HttpFault::kTwoHosts, DenialReason::kAmbiguousHttp},
              {HttpFault::kAmbiguousLength, DenialReason::kAmbiguousHttp},
              {HttpFault::kHeadTooLarge, DenialReason::kAmbiguousHttp},
              {static_cast<HttpFault>(200), DenialReason::kAmbiguousHttp}};
  for (const auto& row : rows) {
    EXPECT_EQ(refuse_request(row.fault, "a.test", 80).reason, row.reason) << text_of(row.fault);
  }
}

TEST(RefuseRequest, AnswersInHttpWhatIsHttpAndSaysWhy) {
  const Refusal two_hosts = refuse_request(HttpFault::kTwoHosts, "a.test", 8080);
  EXPECT_THAT(two_hosts.goodbye, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(two_hosts.goodbye, HasSubstr("a.test:8080 is refused: two hosts\n"));
  EXPECT_EQ(refuse_request(HttpFault::kNotARequest, "a.test", 80).goodbye, "");
}

}  // namespace
}  // namespace sallyport
