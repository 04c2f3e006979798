// Many runs, one after the other and at once: nothing is left, whichever jail.
#include <atomic>
#include <fstream>
#include <thread>

#include "gate/gate_fixture.h"

namespace sallyport::test {
namespace {

// Mounts and cgroups of the whole machine, which no run may add to.
std::size_t lines_of(const char* path) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

class LeakTest : public EveryJailTest {
 protected:
  struct Machine {
    LeakCount self;
    std::size_t mounts;
    bool operator==(const Machine&) const = default;
  };
  [[nodiscard]] Machine look() const { return {LeakCount::of_self(repo_), lines_of("/proc/self/mountinfo")}; }
};

TEST_P(LeakTest, C16_a_thousand_runs_in_a_row_leave_nothing) {
  const std::unique_ptr<Gate> gate = open_gate();
  ASSERT_EQ(exit_code(run(*gate, spec({"exit_with", "0"}), GetParam())), 0);  // the helper is there from here on
  const Machine before = look();
  const int runs = GetParam() == JailKind::kNative ? 2000 : GetParam() == JailKind::kNone ? 1000 : 200;
  for (int i = 0; i < runs; ++i) ASSERT_EQ(exit_code(run(*gate, spec({"exit_with", "0"}), GetParam())), 0);
  EXPECT_EQ(before.self, look().self);
  EXPECT_EQ(before.mounts, look().mounts);
}

TEST_P(LeakTest, C10_two_hundred_runs_at_once_from_sixteen_threads_leave_nothing) {
  const std::unique_ptr<Gate> gate = open_gate();
  ASSERT_EQ(exit_code(run(*gate, spec({"exit_with", "0"}), GetParam())), 0);
  const Machine before = look();
  std::atomic<int> left{200};
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        while (left.fetch_sub(1) > 0) {
          const Result<JailedSubprocessResult> result = gate->run(spec({"exit_with", "5"}), GetParam(), {});
          if (result && exit_code(*result) == 5) good.fetch_add(1);
        }
      });
    }
  }
  EXPECT_EQ(good.load(), 200);
  EXPECT_EQ(before.self, look().self);
  EXPECT_EQ(before.mounts, look().mounts);
}

INSTANTIATE_TEST_SUITE_P(gate, LeakTest, testing::Values(JailKind::kNone, JailKind::kNative, JailKind::kBwrap),
                         jail_name);

}  // namespace
}  // namespace sallyport::test
