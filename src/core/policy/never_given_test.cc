#include "core/policy/never_given.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace sallyport {
namespace {

using testing::UnorderedElementsAre;

// Those that existed when this table was pinned: a new guarantee needs no line here.
std::vector<Guarantee> pinned(std::span<const Guarantee> never) {
  std::vector<Guarantee> old;
  std::ranges::copy_if(never, std::back_inserter(old),
                       [](Guarantee guarantee) { return guarantee <= Guarantee::kKernelSeparate; });
  return old;
}

// The conformance test takes from the table who must be refused, so a giver that is lost by mistake shows here.
TEST(NeverGiven, LosesNoGuaranteeUnseen_C26) {
  using enum Guarantee;
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kNative>), UnorderedElementsAre(kKernelSeparate));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kBwrap>), UnorderedElementsAre(kKernelSeparate));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kOci>), UnorderedElementsAre(kKernelSeparate));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kLandlock>),
              UnorderedElementsAre(kProcPidIsolated, kLimitDisk, kKernelSeparate));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kGvisor>),
              UnorderedElementsAre(kExecPinned, kLimitMemory, kLimitPids, kLimitCpu, kLimitDisk));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kMicrovm>), UnorderedElementsAre(kExecPinned, kLimitCpu));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kContainer>), UnorderedElementsAre(kFsWriteConfined, kKernelSeparate));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kSandboxExec>),
              UnorderedElementsAre(kExecPinned, kNetDnsClosed, kProcPidIsolated, kProcNoNewPrivs, kProcCapsDropped,
                                   kProcSeccomp, kProcDiesWithParent, kLimitWall, kLimitMemory, kLimitPids, kLimitDisk,
                                   kFsNoSetid, kKernelSeparate));
  EXPECT_THAT(pinned(kNeverGivenBy<Givers::kNoJail>),
              UnorderedElementsAre(kFsReadonlySystem, kFsHomeHidden, kFsPrivateTmp, kFsWriteConfined, kNetIsolated,
                                   kNetEgressAllowlist, kNetDnsClosed, kProcPidIsolated, kProcCapsDropped, kProcSeccomp,
                                   kLimitDisk, kFsGitProtected, kNetUnixIsolated, kFsNoSetid, kFsRepoUntouched,
                                   kKernelSeparate));
}

// A row that names nobody, as a new one does at first.
TEST(NeverGiven, IsEverythingByDefault) {
  EXPECT_EQ((GuaranteeInfo{Guarantee::kExecPinned, "new", "a new one"}.givers), Givers::kNobody);
  EXPECT_EQ(Givers::kEveryJail - Givers::kEveryJail, Givers::kNobody);
  EXPECT_EQ(Givers::kEveryJail | Givers::kNoJail, Givers::kEveryRun);
}

}  // namespace
}  // namespace sallyport
