#include "core/egress/npmrc.h"

#include <gmock/gmock.h>

namespace sallyport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::optional<std::string> variable(const std::string& name) {
  return name == "TOKEN" ? std::optional<std::string>("from-a-variable") : std::nullopt;
}

std::string authorization(std::string_view npmrc, std::string_view registry = "https://registry.test/npm/all/") {
  const Result<std::string> found = registry_authorization(npmrc, registry, variable);
  return found ? *found : "none: " + found.error().message;
}

TEST(Npmrc, GivesTheCredentialsOfTheRegistryAndNoOthers) {
  EXPECT_EQ(authorization("//registry.test/npm/all/:_authToken=abc\n//other.test/:_authToken=x\n"), "Bearer abc");
  EXPECT_EQ(authorization("  //registry.test/:_authToken = \"a=b\"  \r\n"), "Bearer a=b");
  EXPECT_EQ(authorization("//registry.test/npm:_authToken=near\n//registry.test/:_authToken=far\n"), "Bearer near");
  EXPECT_EQ(authorization("//registry.test/:_authToken=1\n//registry.test/:_authToken=2\n"), "Bearer 2");
  EXPECT_EQ(authorization("//registry.test/:_authToken=${TOKEN}\n"), "Bearer from-a-variable");
  EXPECT_EQ(authorization("//registry.test/:_authToken=a${NONE?}b\n"), "Bearer ab");
  EXPECT_EQ(authorization("//registry.test/:username=me\n//registry.test/:_password=b3Blbg==\n"), "Basic bWU6b3Blbg==");
  EXPECT_EQ(authorization("//registry.test/:_auth=bWU6b3Blbg==\n"), "Basic bWU6b3Blbg==");
  EXPECT_EQ(authorization("//registry.test:4873/:_authToken=x\n", "http://registry.test:4873/"), "Bearer x");
  EXPECT_EQ(authorization("//registry.test/:_authToken=x\n", "https://Registry.test:443"), "Bearer x");
}

TEST(Npmrc, SaysWhatIsMissingWithoutSayingWhatIsThere) {
  for (const char* npmrc :
       {"", "_authToken=abc-secret\n", "//other.test/:_authToken=abc-secret\n",
        "//registry.test.evil.test/:_authToken=abc-secret\n", "//registry.test:444/:_authToken=abc-secret\n",
        "#//registry.test/:_authToken=abc-secret\n", ";//registry.test/:_authToken=abc-secret\n",
        "[s]\n//registry.test/:_authToken=abc-secret\n", "//registry.test/npm/all/more/:_authToken=abc-secret\n",
        "//registry.test/:_authToken=abc-secret${UNSET}\n", "//registry.test/:username=abc-secret\n",
        "//registry.test/:username=me\n//registry.test/:_password=!abc-secret\n"}) {
    const std::string said = authorization(npmrc);
    EXPECT_THAT(said, testing::StartsWith("none: ")) << npmrc;
    EXPECT_THAT(said, Not(HasSubstr("secret"))) << npmrc;
  }
  EXPECT_THAT(authorization("//registry.test/:_authToken=${UNSET}\n"), HasSubstr("UNSET, which is not set"));
}

TEST(Npmrc, MayNameARegistry) {
  const NpmrcVariable variable = [](const std::string& name) {
    return name == "HOST" ? std::optional<std::string>("npm.test") : std::nullopt;
  };
  EXPECT_EQ(registry_in("//a.test/:_authToken=x\n", variable).value(), std::nullopt);
  EXPECT_EQ(registry_in("registry=https://a.test/\nregistry = https://${HOST}/\n", variable).value(),
            "https://npm.test/");
  EXPECT_EQ(registry_in("[section]\nregistry=https://a.test/\n", variable).value(), std::nullopt);
  EXPECT_FALSE(registry_in("registry=https://${NOBODY}/\n", variable));
}

}  // namespace
}  // namespace sallyport
