// Jails kept ready: quicker, and otherwise no different from one that is built for the run.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "gate/gate_fixture.h"
#include "gate/host_gate.h"
#include "spawn/owner/helper_client.h"

namespace sallyport::test {

namespace {

// Those of its first thread; none when it is gone.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  for (pid_t pid = 0; file >> pid;) children.push_back(pid);
  return children;
}

std::string text_of(const WarmCounts& counts) {
  return std::to_string(counts.warm) + " warm, " + std::to_string(counts.cold) + " cold, " +
         std::to_string(counts.spoiled) + " spoiled";
}

class WarmTest : public GateTest {
 protected:
  [[nodiscard]] GateConfig warm_config(std::size_t jails = 2) {
    GateConfig warm = config();
    warm.warm_jails = jails;
    return warm;
  }
  [[nodiscard]] std::string printed(Gate& gate, const JailedSubprocessSpec& what) const {
    JailedSubprocessResult result = run(gate, what, JailKind::kNative);
    EXPECT_EQ(exit_code(result), 0) << result.stderr_stream.bytes;
    return result.stdout_stream.bytes;
  }
  // `sh` sees what a tool sees; the misbehaving helpers are each good at one thing only.
  [[nodiscard]] GateConfig with_shell(std::size_t jails = 2) {
    GateConfig warm = warm_config(jails);
    warm.allowlist = *Allowlist::from_policy(policy_admitting({"sh"}), "test policy");
    return warm;
  }
  [[nodiscard]] JailedSubprocessSpec shell(const std::string& script) const { return spec({"sh", "-c", script}); }
};

TEST_F(WarmTest, TheSecondOfTwoLikeRunsMakesTheThirdAWarmOne) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(warm_config()).value();
  HostGate& engine = *engine_gate;
  for (const char* word : {"one", "two", "three", "four"}) {
    EXPECT_NE(printed(engine, spec({"print_args", word})).find(word), std::string::npos);
  }
  EXPECT_EQ(text_of(engine.warm_counts()), "2 warm, 2 cold, 0 spoiled");
}

TEST_F(WarmTest, WarmUpMakesTheFirstRunAWarmOneWhateverItsToolAndArguments) {
  GateConfig both = with_shell();
  both.allowlist = *Allowlist::from_policy(policy_admitting({"sh", "git"}), "test policy");
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(std::move(both)).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(shell("true")));
  EXPECT_EQ(exit_code(run(engine, shell("exit 3"), JailKind::kNative)), 3);
  EXPECT_NE(printed(engine, spec({"git", "--version"})).find("git version"), std::string::npos);
  EXPECT_EQ(text_of(engine.warm_counts()), "2 warm, 0 cold, 0 spoiled");
}

TEST_F(WarmTest, WithoutWarmJailsNothingIsKeptReady) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(config()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(spec({"exit_with", "0"})));
  EXPECT_EQ(exit_code(run(engine, spec({"exit_with", "0"}), JailKind::kNative)), 0);
  EXPECT_EQ(text_of(engine.warm_counts()), "0 warm, 0 cold, 0 spoiled");
}

TEST_F(WarmTest, TooManyAreRefused) {
  const Result<std::unique_ptr<Gate>> gate = Gate::open(warm_config(65));
  ASSERT_FALSE(gate.has_value());
  EXPECT_NE(gate.error().as<InvalidRequest>(), nullptr);
  EXPECT_TRUE(Gate::open(warm_config(64)).has_value());
}

// Identity, locks, mounts (without their numbers), descriptors, limits, surroundings.
constexpr const char* kLookAround =
    "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|SigBlk|SigIgn)' /proc/self/status; "
    "cut -d' ' -f4- /proc/self/mountinfo | sed 's/master:[0-9]*//' | sort; cat /proc/self/cgroup; ls /proc/self/fd; "
    "ulimit -a; pwd; umask; cat /proc/sys/kernel/hostname; ls /proc/net/dev /sys 2>&1; "
    "stat -c '%A %U:%G %n' / /* /dev/* /tmp/* /tmp/.shm; env | sort; echo $$";

TEST_F(WarmTest, AToolLooksAroundAndSeesNoDifference) {
  const std::unique_ptr<HostGate> cold_gate = HostGate::open(with_shell(0)).value();
  HostGate& cold = *cold_gate;
  const std::unique_ptr<HostGate> warm_gate = HostGate::open(with_shell()).value();
  HostGate& warm = *warm_gate;
  for (const bool limited : {false, true}) {
    JailedSubprocessSpec look = shell(kLookAround);
    if (limited) look.limits.pids = 100;
    ASSERT_TRUE(warm.warm_up(look));
    const std::string expected = printed(cold, look);
    EXPECT_NE(expected.find("NoNewPrivs:\t1"), std::string::npos) << expected;
    EXPECT_NE(expected.find("Seccomp:\t2"), std::string::npos) << expected;
    EXPECT_NE(expected.find("CapBnd:\t0000000000000000"), std::string::npos) << expected;
    EXPECT_EQ(printed(warm, look), expected);
  }
  EXPECT_EQ(text_of(warm.warm_counts()), "2 warm, 0 cold, 0 spoiled");
}

TEST_F(WarmTest, TheReceiptIsTheSame) {
  const std::unique_ptr<HostGate> cold_gate = HostGate::open(with_shell(0)).value();
  HostGate& cold = *cold_gate;
  const std::unique_ptr<HostGate> warm_gate = HostGate::open(with_shell()).value();
  HostGate& warm = *warm_gate;
  ASSERT_TRUE(warm.warm_up(shell("true")));
  const auto mechanisms = [&](Gate& gate) {
    std::string text;
    for (const Established& one : run(gate, shell("true"), JailKind::kNative).receipt.established) {
      text += std::string(name_of(one.mechanism)) + "\n";
    }
    return text;
  };
  EXPECT_EQ(mechanisms(warm), mechanisms(cold));
}

TEST_F(WarmTest, NothingOfOneRunIsThereInTheNext) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(with_shell(1)).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(shell("true")));
  const std::string leave = "echo secret > /tmp/left; mkdir /dev/shm/left; sleep 1000 & ls /tmp /dev/shm";
  EXPECT_NE(printed(engine, shell(leave)).find("left"), std::string::npos);
  for (int i = 0; i < 5; ++i) {
    const std::string seen = printed(engine, shell("ls /tmp /dev/shm; cat /proc/[0-9]*/comm"));
    EXPECT_EQ(seen.find("left"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("sleep"), std::string::npos) << seen;
  }
  EXPECT_EQ(text_of(engine.warm_counts()), "6 warm, 0 cold, 0 spoiled");
}

TEST_F(WarmTest, ARunThatWantsAnotherJailGetsAnother) {
  std::filesystem::create_directory(dir_ / "extra");
  std::ofstream(dir_ / "extra" / "file") << "extra";
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(with_shell()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(shell("true")));
  JailedSubprocessSpec more = shell("cat " + (dir_ / "extra" / "file").string());
  EXPECT_NE(exit_code(run(engine, more, JailKind::kNative)), 0);
  more.extra_read_only = {dir_ / "extra"};
  EXPECT_EQ(printed(engine, more), "extra");
  JailedSubprocessSpec writable = shell("echo x > " + (repo_ / "written").string());
  EXPECT_NE(exit_code(run(engine, writable, JailKind::kNative)), 0) << "the control: the waiting ones are read-only";
  writable.repo_access = RepoAccess::kWritable;
  EXPECT_EQ(exit_code(run(engine, writable, JailKind::kNative)), 0);
  EXPECT_TRUE(std::filesystem::exists(repo_ / "written"));
  EXPECT_EQ(text_of(engine.warm_counts()), "2 warm, 2 cold, 0 spoiled");
}

TEST_F(WarmTest, ARepoPutInTheOthersPlaceIsTheOneThatIsSeen) {
  std::ofstream(repo_ / "which") << "old";
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(with_shell()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(shell("true")));
  EXPECT_EQ(printed(engine, shell("cat which")), "old");
  std::filesystem::rename(repo_, dir_ / "away");
  std::filesystem::create_directory(repo_);
  std::ofstream(repo_ / "which") << "new";
  EXPECT_EQ(printed(engine, shell("cat which")), "new");
  EXPECT_EQ(text_of(engine.warm_counts()), "1 warm, 1 cold, 0 spoiled");
}

TEST_F(WarmTest, AJailThatCannotBeBuiltAheadIsCountedAndTheRunGetsAFreshOne) {
  for (const auto stage : {spawn::wire::Stage::kClone, spawn::wire::Stage::kTmpfs, spawn::wire::Stage::kPivot}) {
    const std::unique_ptr<HostGate> engine_gate = HostGate::open(warm_config()).value();
    HostGate& engine = *engine_gate;
    engine.fail_warm_jails_at_for_tests(stage);
    ASSERT_TRUE(engine.warm_up(spec({"exit_with", "0"})));
    EXPECT_EQ(exit_code(run(engine, spec({"exit_with", "7"}), JailKind::kNative)), 7);
    EXPECT_EQ(text_of(engine.warm_counts()), "0 warm, 0 cold, 1 spoiled");
  }
}

TEST_F(WarmTest, KilledWhileTheyWaitTheyAreReplacedAndNoRunHangs) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(warm_config()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(spec({"exit_with", "0"})));
  int killed = 0;
  for (int round = 0; round < 10; ++round) {
    for (const pid_t helper : children_of(::getpid())) {
      for (const pid_t worker : children_of(helper)) killed += ::kill(worker, SIGKILL) == 0 ? 1 : 0;
      if (round % 3 == 2) ::kill(helper, SIGKILL);
    }
    // A worker that dies while it receives the request may already have started the tool: an error, not a retry.
    const Result<JailedSubprocessResult> result = engine.run(spec({"exit_with", "7"}), JailKind::kNative, {});
    if (result) {
      EXPECT_EQ(exit_code(*result), 7);
    } else {
      EXPECT_NE(result.error().as<SystemError>(), nullptr) << result.error().message;
    }
  }
  EXPECT_GT(killed, 0);
  bool works = false;
  for (int i = 0; i < 50 && !works; ++i) {
    const Result<JailedSubprocessResult> result = engine.run(spec({"exit_with", "7"}), JailKind::kNative, {});
    works = result && exit_code(*result) == 7;
  }
  EXPECT_TRUE(works);
}

TEST_F(WarmTest, ManyThreadsAtOnceAreServedAndNothingIsLeft) {
  std::thread([] {}).join();  // ThreadSanitizer starts a thread of its own with the first of ours, and keeps it
  const LeakCount before = LeakCount::of_self(repo_);
  {
    const std::unique_ptr<HostGate> engine_gate = HostGate::open(warm_config(4)).value();
    HostGate& engine = *engine_gate;
    std::atomic<int> left{200};
    std::atomic<int> good{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&] {
        while (left.fetch_sub(1) > 0) {
          const Result<JailedSubprocessResult> result = engine.run(spec({"exit_with", "5"}), JailKind::kNative, {});
          if (result && exit_code(*result) == 5) good.fetch_add(1);
        }
      });
    }
    threads.clear();
    EXPECT_EQ(good.load(), 200);
    EXPECT_GT(engine.warm_counts().warm, 0u);
  }
  EXPECT_EQ(before, LeakCount::of_self(repo_));
}

// The jails that wait have copies of the host's mounts. What is mounted or unmounted meanwhile must be seen all the same.
class MountWhileWaiting : public WarmTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(MountWhileWaiting, IsSeenByTheNextRun) {
  std::filesystem::create_directory(repo_ / "sub");
  std::ofstream(repo_ / "sub" / "which") << "below";
  if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "only root can mount without a user namespace around the gate";
  ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(with_shell(GetParam())).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.warm_up(shell("true")));
  const auto look = [&] { return printed(engine, shell("cat sub/which")); };
  EXPECT_EQ(look(), "below");
  for (int round = 0; round < 10; ++round) {
    ASSERT_EQ(::mount("none", (repo_ / "sub").c_str(), "tmpfs", 0, nullptr), 0);
    std::ofstream(repo_ / "sub" / "which") << "mounted";
    EXPECT_EQ(look(), "mounted");
    ASSERT_EQ(::umount2((repo_ / "sub").c_str(), 0), 0);
    EXPECT_EQ(look(), "below");
  }
}

// A jail that exits because the host's mounts changed is no failure, however many exit before the next run.
TEST_F(WarmTest, JailsAreBuiltAnewHoweverOftenTheHostsMountsChange) {
  if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "only root can mount without a user namespace around the gate";
  ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(config()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.run(spec({"exit_with", "0"}), JailKind::kNative, {}).has_value());
  const pid_t helper = engine.helper_pid_for_tests();
  const auto all_new = [&](const std::vector<pid_t>& before) {
    const std::vector<pid_t> now = children_of(helper);
    return now.size() == spawn::HelperClient::kIdleChildren &&
           std::ranges::none_of(now, [&](pid_t pid) { return std::ranges::count(before, pid) != 0; });
  };
  for (int round = 0; round < 20; ++round) {
    const std::vector<pid_t> before = children_of(helper);
    bool built = false;
    for (int i = 0; i < 300 && !built; ++i) {
      // Again and again: one that has only just started does not notice.
      ASSERT_EQ(::mount("none", repo_.c_str(), "tmpfs", 0, nullptr), 0);
      ASSERT_EQ(::umount2(repo_.c_str(), 0), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      built = all_new(before);
    }
    ASSERT_TRUE(built) << "in round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(gate, MountWhileWaiting, testing::Values(0, 2),
                         [](const auto& test) { return test.param == 0 ? "a_jail_started_ahead" : "a_whole_jail"; });

}  // namespace
}  // namespace sallyport::test
