// Real control groups of this host. Where none can be made, the tests that need one skip and the reason is tested.
#include "os/cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <vector>

#include "os/pipe.h"
#include "os/test_processes.h"
#include "support/forked.h"

namespace sallyport {
namespace {

using test::wait_for;

constexpr std::uint64_t kLimit = 32ULL << 20;

enum class Join { kYes, kNo };

// Forks a child that joins the group, then runs `body` and exits with its value. Only raw calls in the child.
pid_t start(const RunCgroup& group, Join join, const std::function<int()>& body) {
  const std::vector<int> fds = group.procs_fds();
  return test::fork_child([&] {
    for (const int fd : fds) {
      if (join == Join::kYes && ::write(fd, "0", 1) != 1) return 99;
    }
    return body();
  });
}

int touch(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 98;
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  return 0;
}

int fork_many(int count) {
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t child = test::fork_child([]() -> int {
      for (;;) ::pause();
    });
    if (child < 0) ++refused;
  }
  return refused > 0 ? 1 : 0;
}

bool have(const CgroupCapability& capability) { return capability.available; }

TEST(Cgroup, AProcessOverTheMemoryLimitIsKilledByTheKernelAndCounted) {
  if (const auto support = probe_cgroups(); !have(support.memory)) GTEST_SKIP() << support.memory.reason;
  const RunCgroup group = RunCgroup::create({.memory_bytes = kLimit}).value();
  EXPECT_EQ(group.oom_kills().value(), 0U);
  // Positive controls: under the limit it lives; without the group the same amount is fine.
  EXPECT_EQ(wait_for(start(group, Join::kYes, [] { return touch(kLimit / 4); })), 0);
  EXPECT_EQ(wait_for(start(group, Join::kNo, [] { return touch(kLimit * 2); })), 0);
  EXPECT_EQ(group.oom_kills().value(), 0U);
  const int status = wait_for(start(group, Join::kYes, [] { return touch(kLimit * 2); }));
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(group.oom_kills().value(), 1U);
}

TEST(Cgroup, AKillOfOursIsNotCountedAsOutOfMemory) {
  if (const auto support = probe_cgroups(); !have(support.memory)) GTEST_SKIP() << support.memory.reason;
  const RunCgroup group = RunCgroup::create({.memory_bytes = kLimit}).value();
  const pid_t child = start(group, Join::kYes, []() -> int {
    for (;;) ::pause();
  });
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
  EXPECT_EQ(group.oom_kills().value(), 0U);
}

TEST(Cgroup, TheNumberOfProcessesIsBounded) {
  if (const auto support = probe_cgroups(); !have(support.pids)) GTEST_SKIP() << support.pids.reason;
  RunCgroup group = RunCgroup::create({.pids_max = 8}).value();
  const int over = wait_for(start(group, Join::kYes, [] { return fork_many(16); }));
  ASSERT_TRUE(WIFEXITED(over));
  EXPECT_EQ(WEXITSTATUS(over), 1);
  ASSERT_TRUE(group.kill());
  const int under =
      wait_for(start(RunCgroup::create({.pids_max = 64}).value(), Join::kYes, [] { return fork_many(16); }));
  ASSERT_TRUE(WIFEXITED(under));
  EXPECT_EQ(WEXITSTATUS(under), 0);  // positive control
}

TEST(Cgroup, KillReachesEveryDescendantAlsoAfterSetsid) {
  Result<RunCgroup> group = RunCgroup::create({.pids_max = 64});
  if (!group) GTEST_SKIP() << group.error().message;
  Pipe alive = make_pipe().value();  // its read end gets end-of-file only when every holder is gone
  const int held = alive.write_end.get();
  const pid_t child = start(*group, Join::kYes, [held]() -> int {
    ::signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(test::fork_child([held]() -> int {
        ::setsid();
        static_cast<void>(test::fork_child([held]() -> int {
          static_cast<void>(::write(held, "x", 1) == 1);
          for (;;) ::pause();
        }));
        for (;;) ::pause();
      }));
    }
    return 0;
  });
  EXPECT_EQ(wait_for(child), 0);  // the parent is gone, its daemons are alive
  char byte = 0;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(::read(alive.read_end.get(), &byte, 1), 1);
  alive.write_end.reset();
  ASSERT_TRUE(set_nonblocking(alive.read_end.get()));
  EXPECT_EQ(::read(alive.read_end.get(), &byte, 1), -1);  // positive control: they still hold it
  ASSERT_TRUE(group->kill());
  EXPECT_TRUE(group->remove());  // waits until the last one has left
  EXPECT_EQ(::read(alive.read_end.get(), &byte, 1), 0);
}

TEST(Cgroup, ProcessorTimeOfTheWholeTreeIsCounted) {
  const Result<RunCgroup> group = RunCgroup::create({.account_cpu = true});
  if (!group) GTEST_SKIP() << group.error().message;
  wait_for(start(*group, Join::kYes, [] { return touch(64 << 20); }));
  EXPECT_GT(group->cpu_time().value().count(), 0);
}

TEST(Cgroup, NothingIsLeftBehind) {
  const std::size_t fds = count_open_fds();
  if (const Result<RunCgroup> group = RunCgroup::create({.memory_bytes = kLimit, .pids_max = 8}); !group) {
    EXPECT_NE(group.error().as<GuaranteeUnavailable>(), nullptr);  // a typed reason
    EXPECT_FALSE(group.error().hint.empty()) << group.error().message;
  }
  for (int i = 0; i < 50; ++i)
    static_cast<void>(RunCgroup::create({.memory_bytes = kLimit, .pids_max = 8}).has_value());
  EXPECT_EQ(count_open_fds(), fds);
  EXPECT_EQ(sweep_stale_cgroups().value_or(0), 0U);
}

// An owner that makes a group, starts a process in it that will become an orphan, and waits to be killed.
pid_t start_owner(const Pipe& ready) {
  return test::fork_child([&]() -> int {
    const Result<RunCgroup> group = RunCgroup::create({.pids_max = 8});
    if (!group) return 1;
    const pid_t orphan = start(*group, Join::kYes, [&]() -> int {
      // As exec does for a real tool: close every descriptor of the owner, and with it the share in the lock.
      ::dup2(ready.write_end.get(), 3);
      ::close_range(4, ~0U, 0);
      static_cast<void>(::write(3, "x", 1) == 1);
      for (;;) ::pause();
    });
    while (orphan > 0) ::pause();
    return 1;
  });
}

struct Sweep {
  bool orphan_lived_on = false;  // the positive control
  bool swept_by_us = false;
  bool orphan_died = false;
};

Sweep sweep_after_killing_an_owner() {
  Pipe ready = make_pipe().value();
  const pid_t owner = start_owner(ready);
  char byte = 0;
  if (::read(ready.read_end.get(), &byte, 1) != 1) return {};
  ready.write_end.reset();
  ::kill(owner, SIGKILL);
  wait_for(owner);
  EXPECT_TRUE(set_nonblocking(ready.read_end.get()));
  const bool lived = ::read(ready.read_end.get(), &byte, 1) == -1;
  const bool swept = sweep_stale_cgroups().value() >= 1;
  return {lived, swept, ::read(ready.read_end.get(), &byte, 1) == 0};
}

TEST(Cgroup, TheNextStartRemovesTheGroupOfAKilledOwnerWithWhateverRunsInIt) {
  if (const auto support = probe_cgroups(); !have(support.pids)) GTEST_SKIP() << support.pids.reason;
  const RunCgroup mine = RunCgroup::create({.pids_max = 8}).value();
  // Other tests sweep at the same time and may be quicker; then this one sees nothing, so try again.
  Sweep seen;
  for (int attempt = 0; attempt < 10 && !(seen.orphan_lived_on && seen.swept_by_us); ++attempt) {
    seen = sweep_after_killing_an_owner();
  }
  EXPECT_TRUE(seen.orphan_lived_on);
  EXPECT_TRUE(seen.swept_by_us);
  EXPECT_TRUE(seen.orphan_died);
  EXPECT_EQ(wait_for(start(mine, Join::kYes, [] { return 0; })), 0);  // the sweep spared the living owner's group
}

}  // namespace
}  // namespace sallyport
