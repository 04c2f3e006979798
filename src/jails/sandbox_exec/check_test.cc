#include "jails/sandbox_exec/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport::sandbox_exec {
namespace {

using testing::ElementsAre;

// Without a network there is no proxy of ours, and the caller's would be of no use.
TEST(SandboxExecEnvironment, HasThePrivateDirectoryAndOurProxyAlone_C7) {
  Plan plan;
  plan.env = {{"A", "1"}, {"HTTPS_PROXY", "http://p.test"}, {"TMP", "/x"}, {"https_proxy", "http://p.test"}};
  const EnvVar a{"A", "1"};
  const EnvVar home{"HOME", "/p/home"};
  const EnvVar tmpdir{"TMPDIR", "/p/tmp"};
  EXPECT_THAT(environment(plan, {.private_dir = "/p"}), ElementsAre(a, home, tmpdir));
  EXPECT_THAT(environment(plan, {.private_dir = "/p", .proxy_url = "http://ours"}),
              ElementsAre(a, home, tmpdir, EnvVar{"HTTPS_PROXY", "http://ours"}, EnvVar{"https_proxy", "http://ours"}));
}

}  // namespace
}  // namespace sallyport::sandbox_exec
