#include "jails/landlock/landlock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sallyport/egress.h"

namespace sallyport::landlock {
namespace {

using testing::ElementsAre;

// A tool that went by the caller's TMP would look for a directory that it cannot enter.
TEST(LandlockEnvironment, LeadsToThePrivateDirectoryUnderEveryName_C7) {
  Plan plan;
  plan.env = {{"HOME", "/home/u"}, {"HTTPS_PROXY", "http://p.test"}, {"TEMP", "/x"}, {"TMP", "/x"}, {"TMPDIR", "/x"}};
  const EnvVar proxy{"HTTPS_PROXY", "http://p.test"};
  const EnvVar home{"HOME", "/tmp/p/home"};
  const EnvVar tmpdir{"TMPDIR", "/tmp/p/tmp"};
  EXPECT_THAT(environment(plan, "/tmp/p"), ElementsAre(proxy, home, tmpdir));
  plan.allowed_hosts = {parse_host_rule("h.test").value()};
  EXPECT_THAT(environment(plan, "/tmp/p"), ElementsAre(proxy, home, tmpdir, EnvVar{"RES_OPTIONS", "use-vc"}));
}

}  // namespace
}  // namespace sallyport::landlock
