// A path that is swapped while jails are being built (C22): a run sees under its path the directory that was checked,
// or the run is refused. bwrap mounts by name, so there our init inside compares (ADR-0010).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "conformance/surroundings.h"
#include "spawn/wire/launch_spec.h"
#include "support/jails.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Exchanges two paths, atomically, as fast as it can: neither is ever missing.
class Swapper {
 public:
  Swapper(const fs::path& one, const fs::path& other)
      : thread_([this, one, other](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            if (renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) ++swaps_;
          }
        }) {}
  [[nodiscard]] long swaps() const { return swaps_; }

 private:
  std::atomic<long> swaps_ = 0;
  std::jthread thread_;
};

class SwappedPath : public testing::TestWithParam<JailKind> {
 protected:
  SwappedPath() {
    for (const char* name : {"repo", "bound", "secret"}) fs::create_directory(dir_ / name);
    test::write_file(dir_ / "bound" / "who", "right");
    test::write_file(dir_ / "secret" / "who", "wrong");
    // Relative: an absolute one leads nowhere in the root from which bwrap mounts.
    fs::create_symlink("secret", dir_ / "link");
  }

  [[nodiscard]] JailedSubprocessSpec spec() const {
    return {.argv = {"cat", dir_ / "bound" / "who"},
            .repo = dir_ / "repo",
            .cwd = dir_ / "repo",
            .extra_read_only = {dir_ / "bound"},
            .limits = {.wall = 20s}};
  }
  [[nodiscard]] std::unique_ptr<Gate> open_gate() const {
    return Gate::open(config_admitting(dir_ / "repo", {"cat"}, {"/usr/bin", "/bin"})).value();
  }

  test::TempDir dir_;
};

// Whether the last comparison before the tool starts was what refused.
bool refused_as_swapped(const Error& error, JailKind jail) {
  const auto* failed = error.as<SetupFailed>();
  if (failed == nullptr) return false;
  return (jail != JailKind::kBwrap && jail != kOciJail) || failed->stage == SetupStage::kSourceIdentity;
}

TEST_P(SwappedPath, IsSeenAsItWasCheckedOrTheRunIsRefused_C22) {
  const std::unique_ptr<Gate> gate = open_gate();
  const Result<JailedSubprocessResult> quiet = gate->run(spec(), GetParam(), {});
  ASSERT_TRUE(quiet) << quiet.error().message;
  EXPECT_EQ(quiet->stdout_stream.bytes, "right");
  const std::string plan_of_the_directory = quiet->receipt.plan_digest;

  const Swapper swapper(dir_ / "bound", dir_ / "link");
  int right = 0;
  int caught = 0;
  // At least 40 starts, then until both results were seen. 3000 are needed only on a machine where the two threads rarely run at
  // the same time.
  for (int start = 0; start < 3000 && (start < 40 || right == 0 || caught == 0); ++start) {
    const Result<JailedSubprocessResult> result = gate->run(spec(), GetParam(), {});
    if (!result) {
      if (refused_as_swapped(result.error(), GetParam())) ++caught;
      continue;
    }
    // If the swap came before the check, the caller asked for the link's target: another plan, and no fault.
    if (result->receipt.plan_digest != plan_of_the_directory) continue;
    ASSERT_NE(result->stdout_stream.bytes, "wrong") << "another directory was mounted in place of the checked one";
    if (result->stdout_stream.bytes == "right") ++right;
  }
  // Positive controls: the swap did hit the time between check and mount, and some starts succeeded.
  EXPECT_GT(swapper.swaps(), 0);
  EXPECT_GT(caught, 0);
  EXPECT_GT(right, 0);
}

INSTANTIATE_TEST_SUITE_P(, SwappedPath, testing::ValuesIn(test::confining_jails()),
                         [](const auto& test) { return std::string(test.param.name()); });

}  // namespace
}  // namespace sallyport::conformance
