// What is rendered depends on the spec and on nothing else (C15).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rapidcheck.h>
#include <cstdlib>

#include "golden/renderings.h"

namespace sallyport::golden {
namespace {

bool same(const Rendering& one, const Rendering& other) {
  return one.bwrap.argv == other.bwrap.argv && one.bwrap.passed == other.bwrap.passed &&
         spawn::encode(one.bwrap_inner) == spawn::encode(other.bwrap_inner) &&
         spawn::encode(one.native) == spawn::encode(other.native) && one.oci == other.oci &&
         one.gvisor == other.gvisor && one.podman == other.podman && one.docker == other.docker &&
         spawn::encode(one.oci_inner) == spawn::encode(other.oci_inner);
}

// One directory name: any bytes a file name may have, but "." and "..".
rc::Gen<std::string> a_name() {
  return rc::gen::suchThat(rc::gen::nonEmpty(rc::gen::container<std::string>(
                               rc::gen::distinctFrom(rc::gen::distinctFrom(rc::gen::arbitrary<char>(), '/'), '\0'))),
                           [](const std::string& name) { return name != "." && name != ".."; });
}

std::vector<std::filesystem::path> some_paths_below(const std::filesystem::path& top) {
  std::vector<std::filesystem::path> paths;
  const auto names = *rc::gen::container<std::vector<std::string>>(*rc::gen::inRange<std::size_t>(0, 5), a_name());
  for (const std::string& name : names) paths.push_back(top / name);
  return paths;
}

Scene a_scene() {
  Scene scene = plain_scene();
  scene.spec.argv = {"jq", *rc::gen::container<std::string>(rc::gen::distinctFrom(rc::gen::arbitrary<char>(), '\0'))};
  scene.spec.repo = std::filesystem::path("/src") / *a_name();
  scene.spec.cwd = scene.spec.repo;
  scene.spec.repo_access = *rc::gen::element(RepoAccess::kReadOnly, RepoAccess::kWritable);
  scene.spec.extra_read_only = some_paths_below("/srv/ro");
  scene.spec.extra_read_write = some_paths_below("/srv/rw");
  if (*rc::gen::arbitrary<bool>()) scene.spec.limits.disk = mebibytes(*rc::gen::inRange<std::uint64_t>(1, 4096));
  return scene;
}

// All that a careless renderer could read: variables, working directory, umask.
void change_the_surroundings() {
  for (const char* name : {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "USER", "BWRAP"}) {
    setenv(name, ("/elsewhere/" + std::to_string(*rc::gen::arbitrary<unsigned>())).c_str(), 1);
  }
  ASSERT_EQ(chdir(*rc::gen::element("/", "/usr", "/tmp")), 0);
  umask(*rc::gen::element<mode_t>(0, 022, 077));
}

TEST(Rendering, IsTheSameTwiceWhateverTheHostsEnvironmentSays_C15) {
  EXPECT_TRUE(rc::check("the same spec gives the same text", [] {
    const Scene scene = a_scene();
    const Rendering first = render(scene);
    change_the_surroundings();
    RC_ASSERT(same(render(scene), first));
  }));
}

// The comparison's own control.
TEST(Rendering, IsAnotherForAnotherSpec) {
  Scene other = plain_scene();
  other.spec.repo_access = RepoAccess::kWritable;
  EXPECT_FALSE(same(render(other), render(plain_scene())));
  EXPECT_TRUE(same(render(plain_scene()), render(plain_scene())));
}

// A user's path is a mount's target and never its source: bwrap looks up no name that somebody could swap, and no name
// stands where an option could.
TEST(Rendering, NamesNoPathOfTheUsersAsASource_C15) {
  EXPECT_TRUE(rc::check("sources are descriptors", [] {
    const std::vector<std::string> argv = render(a_scene()).bwrap.argv;
    for (std::size_t i = 0; i + 2 < argv.size(); ++i) {
      if (argv[i] != "--bind" && argv[i] != "--ro-bind") continue;
      RC_ASSERT(argv[i + 1].starts_with("/proc/self/fd/") || argv[i + 1] == "/dev/null");
      RC_ASSERT(argv[i + 2].starts_with("/"));
    }
  }));
}

}  // namespace
}  // namespace sallyport::golden
