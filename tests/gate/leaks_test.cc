// Many runs, one after the other and at once: no jail leaves anything.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gate/gate_fixture.h"
#include "support/deep.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

// Mounts of the whole machine, which no run may add to.
std::size_t lines_of(const char* path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

// Run cgroups carry their owner's pid in their name; those of other tests are not ours to count.
std::size_t own_cgroups() {
  const std::string own = "-" + std::to_string(::getpid()) + "-";
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at("/sys/fs/cgroup", error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().native().find(own) != std::string::npos) ++count;
  }
  return count;
}

class LeakTest : public EveryJailTest {
 protected:
  struct Machine {
    LeakCount self;
    std::size_t mounts;
    std::size_t cgroups;
  };
  void SetUp() override {
    EveryJailTest::SetUp();
    // ThreadSanitizer starts a thread of its own with the first of ours, and keeps it.
    std::thread([] {}).join();
  }
  [[nodiscard]] Machine look() const {
    return {LeakCount::of_self(repo_), lines_of("/proc/self/mountinfo"), own_cgroups()};
  }
  void expect_unchanged_since(const Machine& before) const {
    const Machine after = look();
    EXPECT_EQ(before.self, after.self);
    EXPECT_EQ(before.mounts, after.mounts);
    EXPECT_EQ(before.cgroups, after.cgroups);
  }
  // With a limit that takes a cgroup where the machine has them.
  [[nodiscard]] JailedSubprocessSpec limited(const char* exit_code) const {
    JailedSubprocessSpec what = spec({"exit_with", exit_code});
    what.limits.pids = 64;
    return what;
  }
};

TEST_P(LeakTest, C16_many_runs_in_a_row_leave_nothing) {
  const std::unique_ptr<Gate> gate = open_gate();
  ASSERT_EQ(exit_code(run(*gate, limited("0"), GetParam())), 0);  // the helper is there from here on
  const Machine before = look();
  // With a wrapper, most of a run's time is the wrapper's, so these jails get fewer runs. Sanitized builds look for other
  // faults, and need fewer runs, too.
#ifdef SALLYPORT_SANITIZED
  const int runs = 100;
#else
  const int many = deep() ? 1000 : 200;
  const int runs = GetParam() == kOciJail ? many / 10 : GetParam() == JailKind::kBwrap ? many * 3 / 10 : many;
#endif
  for (int i = 0; i < runs; ++i) ASSERT_EQ(exit_code(run(*gate, limited("0"), GetParam())), 0);
  expect_unchanged_since(before);
}

TEST_P(LeakTest, C10_two_hundred_runs_at_once_from_sixteen_threads_leave_nothing) {
  const std::unique_ptr<Gate> gate = open_gate();
  ASSERT_EQ(exit_code(run(*gate, limited("0"), GetParam())), 0);
  const Machine before = look();
  std::atomic<int> left{200};
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        while (left.fetch_sub(1) > 0) {
          const Result<JailedSubprocessResult> result = gate->run(limited("5"), GetParam(), {});
          if (result && exit_code(*result) == 5) good.fetch_add(1);
        }
      });
    }
  }
  EXPECT_EQ(good.load(), 200);
  expect_unchanged_since(before);
}

INSTANTIATE_TEST_SUITE_P(gate, LeakTest, testing::ValuesIn(all_jails()), jail_name);

}  // namespace
}  // namespace sallyport::test
