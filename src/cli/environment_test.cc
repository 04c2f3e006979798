#include "cli/environment.h"

#include <gtest/gtest.h>

namespace sallyport::cli {
namespace {

using Paths = std::vector<std::filesystem::path>;

TEST(Environment, OnlyTheFourVariablesThatExistArePassedOn_C7) {
  const Environment environment{
      .path = "/bin", .home = {}, .lang = "C", .lc_all = {}, .xdg_cache_home = "/x", .current_directory = "/"};
  EXPECT_EQ(gate_config(environment, "/repo").base_env, (std::vector<EnvVar>{{"PATH", "/bin"}, {"LANG", "C"}}));
}

TEST(Environment, RelativeAndEmptySearchPathEntriesAreNotUsed) {
  EXPECT_EQ(search_path({.path = "/a:rel::./b:/c:"}), (Paths{"/a", "/c"}));
  EXPECT_EQ(search_path({.path = "rel"}), Paths{});
}

TEST(Environment, WithoutPathTheSystemsDirectoriesAreSearched) {
  const Paths system{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
  EXPECT_EQ(search_path({}), system);
  EXPECT_EQ(search_path({.path = ""}), system);
}

TEST(Environment, RelativeDirectoriesFromVariablesAreIgnored) {
  EXPECT_EQ(cache_dir({.home = "/h", .xdg_cache_home = "/x"}), "/x/sallyport");
  EXPECT_EQ(cache_dir({.home = "/h", .xdg_cache_home = "x"}), "/h/.cache/sallyport");
  EXPECT_EQ(cache_dir({.home = "h"}), "");
  EXPECT_EQ(cache_dir({}), "");
}

}  // namespace
}  // namespace sallyport::cli
