// The curated patterns against the real rg, behind the real gate.
#include "jobs/probe/patterns.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "jobs/probe/probe.h"

namespace sallyport::jobs {
namespace {

namespace fs = std::filesystem;

class Examples : public testing::Test {
 protected:
  Examples() {
    std::string name = fs::temp_directory_path() / "sallyport-patterns-XXXXXX";
    base_ = ::mkdtemp(name.data());
    fs::create_directories(base_ / "repo");
    fs::create_directories(base_ / "work");
  }
  ~Examples() override { fs::remove_all(base_); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(base_ / "repo" / name, std::ios::binary) << text << "\n";
  }

  fs::path base_;
};

TEST_F(Examples, OfEveryPatternAreFoundOrNotAsTheySay_C31) {
  for (const Pattern& pattern : curated_patterns()) {
    for (std::size_t i = 0; i < pattern.positive.size(); ++i) {
      write("positive_" + std::string(pattern.id) + std::to_string(i), pattern.positive[i]);
      write("negative_" + std::string(pattern.id) + std::to_string(i), pattern.negative[i]);
    }
  }
  const fs::path repo = fs::canonical(base_ / "repo");
  Result<std::unique_ptr<Gate>> gate =
      Gate::open({.repo = repo, .search_path = {"/usr/bin"}, .base_env = {{"PATH", "/usr/bin"}}});
  ASSERT_TRUE(gate.has_value());
  const JobContext context{.gate = gate->get(),
                           .repo = repo,
                           .work_dir = fs::canonical(base_ / "work"),
                           .deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2)};
  const ProbeReport report = run_probes(context, {.selected = {find_probe("rg_curated")}});
  const auto* const ran = std::get_if<Ran>(&report.results.front().outcome);
  ASSERT_NE(ran, nullptr) << why_of(report.results.front().outcome);
  std::set<std::pair<std::string, std::string>> found;
  for (const Finding& finding : ran->findings) found.emplace(finding.place.path, finding.rule);
  for (const Pattern& pattern : curated_patterns()) {
    for (std::size_t i = 0; i < pattern.positive.size(); ++i) {
      const std::string id(pattern.id);
      EXPECT_TRUE(found.contains({"positive_" + id + std::to_string(i), id})) << pattern.positive[i];
      EXPECT_FALSE(found.contains({"negative_" + id + std::to_string(i), id})) << pattern.negative[i];
    }
  }
}

}  // namespace
}  // namespace sallyport::jobs
