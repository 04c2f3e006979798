// Which failures are the host's fault, and how the gate explains a failure to a person.
#include "gate/why.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "core/errors.h"

namespace sallyport {
namespace {

Error failed_at(SetupStage stage, int error_number, bool host_cannot = false) {
  return setup_failed({.stage = stage, .error_number = error_number, .host_cannot = host_cannot});
}

TEST(WhyAStartFailed, IsTheHostsWhenAnotherJailMayWorkThere) {
  EXPECT_TRUE(host_cannot_jail(jail_unavailable(JailKind("mine"), "no")));
  EXPECT_TRUE(host_cannot_jail(tool_missing("bwrap", "install it")));
  EXPECT_TRUE(host_cannot_jail(failed_at(SetupStage::kClone, EPERM, true)));
  EXPECT_FALSE(host_cannot_jail(failed_at(SetupStage::kClone, EPERM)));
  EXPECT_FALSE(host_cannot_jail(guarantee_unavailable(Guarantee::kNetIsolated, "no")));
  EXPECT_FALSE(host_cannot_jail(invalid_request("cwd", "no")));
}

TEST(WhyAStartFailed, NamesTheToolThatTheKernelDoesNotExecute) {
  const Error error = explain_failure(failed_at(SetupStage::kExec, ENOEXEC, true), "rg", "/usr/bin/rg");
  const auto* const not_runnable = error.as<ToolNotRunnable>();
  ASSERT_NE(not_runnable, nullptr) << error.message;
  EXPECT_EQ(not_runnable->tool, "rg");
  EXPECT_EQ(not_runnable->path, "/usr/bin/rg");
  EXPECT_NE(error.message.find(errno_text(ENOEXEC)), std::string::npos) << error.message;
  EXPECT_NE(error.hint, "");
}

TEST(WhyAStartFailed, NamesAToolThatChangedSinceItsCheckAndNoOtherFailureOfThatStep) {
  const Error changed = explain_failure(failed_at(SetupStage::kExecIdentity, ESTALE), "rg", "/usr/bin/rg");
  const auto* const untrusted = changed.as<UntrustedToolError>();
  ASSERT_NE(untrusted, nullptr) << changed.message;
  EXPECT_EQ(untrusted->tool, "rg");
  EXPECT_EQ(untrusted->path, "/usr/bin/rg");
  const Error other = explain_failure(failed_at(SetupStage::kExecIdentity, EIO), "rg", "/usr/bin/rg");
  ASSERT_NE(other.as<SetupFailed>(), nullptr) << other.message;
  const Error elsewhere = explain_failure(failed_at(SetupStage::kSourceIdentity, ESTALE), "rg", "/usr/bin/rg");
  EXPECT_NE(elsewhere.as<SetupFailed>(), nullptr) << elsewhere.message;
}

TEST(WhyAStartFailed, LeavesEveryOtherErrorAsItIs) {
  const Error explained = explain_failure(jail_unavailable(JailKind("mine"), "no", "another"), "rg", "/usr/bin/rg");
  EXPECT_NE(explained.as<JailUnavailable>(), nullptr);
  EXPECT_EQ(explained.message, jail_unavailable(JailKind("mine"), "no", "another").message);
  EXPECT_EQ(explained.hint, "another");
}

// A request that no host could carry out gets no advice about this one.
TEST(WhyAStartFailed, GivesAdviceOnlyForTheHostAndOnlyWhereThereIsNone) {
  EXPECT_NE(explain_failure(failed_at(SetupStage::kClone, EPERM, true), "rg", "").hint, "");
  EXPECT_EQ(explain_failure(failed_at(SetupStage::kClone, EPERM), "rg", "").hint, "");
  Error with_hint = failed_at(SetupStage::kClone, EPERM, true);
  with_hint.hint = "the jail's own";
  EXPECT_EQ(explain_failure(with_hint, "rg", "").hint, "the jail's own");
}

constexpr SetupFailed kOfProc{.stage = SetupStage::kProc, .error_number = EPERM, .host_cannot = true};
constexpr SetupFailed kOfClone{.stage = SetupStage::kClone, .error_number = EPERM, .host_cannot = true};
constexpr SetupFailed kOfOldKernel{.stage = SetupStage::kClone, .error_number = ENOSYS, .host_cannot = true};

TEST(AdviceAfter, IsTheSysctlThenThePlaceThenTheStepThenTheErrno) {
  HostSigns host{.switches = {.unprivileged_userns_clone = '0'}, .user = 1000, .place = Place::kDocker};
  EXPECT_NE(advice_after(kOfProc, host).find("kernel.unprivileged_userns_clone"), std::string::npos);
  host.switches = {};
  EXPECT_EQ(advice_after(kOfProc, host), advice_for(Place::kDocker));
  host.place = Place::kHost;
  EXPECT_NE(advice_after(kOfProc, host).find("unmasked /proc"), std::string::npos);
  EXPECT_NE(advice_after(kOfOldKernel, host).find("too old"), std::string::npos);
  EXPECT_NE(advice_after(kOfClone, host).find("security module"), std::string::npos);
}

TEST(AdviceAfter, NamesNoSysctlThatDoesNotBindThisUser) {
  const HostSigns roots{.switches = {.unprivileged_userns_clone = '0'}, .user = 0};
  EXPECT_EQ(advice_after(kOfClone, roots).find("sysctl"), std::string::npos);
  const HostSigns all_off{.switches = {.max_user_namespaces = '0'}, .user = 0};
  EXPECT_NE(advice_after(kOfClone, all_off).find("user.max_user_namespaces"), std::string::npos);
}

TEST(AdviceAfter, IsNeverEmpty) {
  for (const Place place : {Place::kHost, Place::kNoProc, Place::kOwnJail, Place::kGvisor, Place::kDocker,
                            Place::kPodman, Place::kContainer, Place::kChroot}) {
    for (const SetupFailed& failure : {kOfProc, kOfClone, kOfOldKernel}) {
      EXPECT_NE(advice_after(failure, {.place = place}), "");
    }
  }
}

}  // namespace
}  // namespace sallyport
