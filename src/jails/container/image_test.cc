#include "jails/container/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sallyport::container {
namespace {

using testing::ElementsAre;

const std::string kId(64, 'a');
const std::string kOther(64, 'b');

std::string inspected(const std::string& id, const std::string& config) {
  return R"([{"Id":")" + id + R"(","Digest":"sha256:)" + kOther + R"(","RepoDigests":["x.test/y@sha256:)" + kOther +
         R"("],"Config":)" + config + "}]";
}

TEST(Image, HasTheDigestByWhicheverWayItIsWritten) {
  EXPECT_EQ(parse_image(inspected(kId, "{}"))->id, "sha256:" + kId);              // podman
  EXPECT_EQ(parse_image(inspected("sha256:" + kId, "{}"))->id, "sha256:" + kId);  // docker
  EXPECT_THAT(parse_image(inspected(kId, "{}"))->digests,
              ElementsAre("sha256:" + kId, "sha256:" + kOther, "sha256:" + kOther));
}

TEST(Image, IsNoneWhereTheAnswerIsNotOne) {
  for (const char* text :
       {"", "[]", "{}", "[1]", R"([{"Id":"latest"}])", R"([{"Id":7}])", R"([{"Id":"sha256:abc"}])"}) {
    EXPECT_FALSE(parse_image(text)) << text;
  }
  EXPECT_FALSE(parse_image("[" + inspected(kId, "{}").substr(1, 20)));
}

TEST(Image, SaysItsPathAndVolumes) {
  EXPECT_EQ(parse_image(inspected(kId, R"({"Env":["A=1","PATH=/opt/x:/bin"]})"))->path, "/opt/x:/bin");
  EXPECT_EQ(parse_image(inspected(kId, R"({"Env":null})"))->path,
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  EXPECT_FALSE(parse_image(inspected(kId, R"({"Volumes":null})"))->has_volumes);
  EXPECT_TRUE(parse_image(inspected(kId, R"({"Volumes":{"/data":{}}})"))->has_volumes);
}

TEST(Image, ANameHasADigestOnlyWhenThatIsOne) {
  EXPECT_EQ(digest_in("x.test/y@sha256:" + kId), "sha256:" + kId);
  EXPECT_EQ(digest_in("sha256:" + kId), "sha256:" + kId);
  for (const char* name : {"x", "x:tag", "x@sha256:12", "sha256:", "x@"}) EXPECT_EQ(digest_in(name), "") << name;
}

// A repo shown over the image's programs must not supply the tool.
TEST(Image, FindsToolsOnlyWhereTheImageHasThem) {
  EXPECT_EQ(path_without("/usr/bin:relative::/work/bin:/workshop", {"/work"}), "/usr/bin:/workshop");
  EXPECT_THAT(places_of_tool("/usr/bin:/bin", "git"), ElementsAre("/usr/bin/git", "/bin/git"));
}

TEST(Engine, ElsewhereSharesNoFileNumbers) {
  EXPECT_TRUE(runs_here({}));
  EXPECT_TRUE(runs_here({.engine_arguments = {"-H", "unix:///run/docker.sock"}}));
  EXPECT_FALSE(runs_here({.engine_arguments = {"-H", "tcp://host.test:2376"}}));
  EXPECT_FALSE(runs_here({.engine_arguments = {"--remote"}}));
  EXPECT_FALSE(runs_here({.environment = {{.name = "DOCKER_HOST", .value = "ssh://host.test"}}}));
}

}  // namespace
}  // namespace sallyport::container
