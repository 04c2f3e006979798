#include "core/policy/never_given.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

TEST(NeverGiven, IsWhatTheTableDoesNotNameTheJailFor) {
  using enum Guarantee;
  EXPECT_THAT(kNeverGivenBy<Givers::kNative>, Contains(kKernelSeparate));
  EXPECT_THAT(kNeverGivenBy<Givers::kNative>, Not(Contains(kProcPidIsolated)));
  EXPECT_THAT(kNeverGivenBy<Givers::kLandlock>, IsSupersetOf({kProcPidIsolated, kLimitDisk, kKernelSeparate}));
  EXPECT_THAT(kNeverGivenBy<Givers::kLandlock>, Not(Contains(kFsWriteConfined)));
  EXPECT_THAT(kNeverGivenBy<Givers::kMicrovm>, IsSupersetOf({kExecPinned, kLimitCpu}));
  EXPECT_THAT(kNeverGivenBy<Givers::kMicrovm>, Not(Contains(kKernelSeparate)));
  EXPECT_THAT(kNeverGivenBy<Givers::kNoJail>, Contains(kNetIsolated));
  EXPECT_THAT(kNeverGivenBy<Givers::kNoJail>, Not(Contains(kExecAllowlisted)));
}

// A row that names nobody, as a new one does at first.
TEST(NeverGiven, IsEverythingByDefault) {
  EXPECT_EQ((GuaranteeInfo{Guarantee::kExecPinned, "new", "a new one"}.givers), Givers::kNobody);
  EXPECT_EQ(Givers::kEveryJail - Givers::kEveryJail, Givers::kNobody);
  EXPECT_EQ(Givers::kEveryJail | Givers::kNoJail, Givers::kEveryRun);
}

}  // namespace
}  // namespace sallyport
