#include "core/egress/registry_url.h"

#include <gtest/gtest.h>

namespace sallyport {
namespace {

std::string registry_rule_text(std::string_view url) {
  const Result<HostRule> rule = registry_host_rule(url);
  return rule ? host_rule_text(*rule) : "refused";
}

TEST(RegistryUrl, BecomesARuleForItsHostAndPort_C24) {
  EXPECT_EQ(registry_rule_text("https://mirror.test/"), "mirror.test,class=any");
  EXPECT_EQ(registry_rule_text("https://mirror.test"), "mirror.test,class=any");
  EXPECT_EQ(registry_rule_text("https://mirror.test:443/npm/"), "mirror.test,class=any");
  EXPECT_EQ(registry_rule_text("https://Mirror.TEST:8443/npm/all?x=1"), "mirror.test:8443,class=any");
  EXPECT_EQ(registry_rule_text("http://mirror.test/"), "mirror.test,class=any");
  EXPECT_EQ(registry_rule_text("http://mirror.test:4873/"), "mirror.test:4873,class=any");
}

TEST(RegistryUrl, IsRefusedWhereItNamesNoHost_C24) {
  for (const char* url :
       {"", "mirror.test", "ftp://mirror.test/", "https://", "https:///x", "https://:443/", "https://u:p@mirror.test/",
        "https://*.mirror.test/", "https://*/", "https://mirror.test:x/", "https://mirror.test:0/", "https://a b/",
        "https://mirror.test,up=1/", "https://a=1.2.3.4:5/"}) {
    const Result<HostRule> rule = registry_host_rule(url);
    EXPECT_FALSE(rule) << url;
    EXPECT_TRUE(rule || rule.error().as<InvalidRequest>() != nullptr) << url;
  }
}

TEST(RegistryUrl, WithoutANameIsRefusedWithTheOptionThatHelps_C24) {
  const Result<HostRule> by_address = registry_host_rule("http://10.1.2.3:4873/npm");
  ASSERT_FALSE(by_address);
  EXPECT_EQ(by_address.error().as<InvalidRequest>()->field, "registry");
  EXPECT_EQ(by_address.error().hint,
            "use `allowed_hosts` NAME:4873=10.1.2.3:4873 and npm's --registry http://NAME:4873/ instead");
  const Result<HostRule> here = registry_host_rule("http://localhost:4873/");
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().hint,
            "use `allowed_hosts` NAME:4873=127.0.0.1:4873 and npm's --registry http://NAME:4873/ instead");
  EXPECT_FALSE(registry_host_rule("https://[fd00::1]/"));
  EXPECT_FALSE(registry_host_rule("https://2130706433/"));
}

}  // namespace
}  // namespace sallyport
