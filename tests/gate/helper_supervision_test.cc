// One helper supervises all jails of a gate (ADR 0015): a command reaches its own jail whatever the init there is doing, an
// end is reported to its own run, and no jail holds a way to another.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <set>
#include <sstream>
#include <thread>

#include "gate/gate_fixture.h"
#include "gate/host_gate.h"
#include "spawn/owner/helper_client.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// The inodes of all unix sockets in our network namespace. A jail's own network has none of them.
std::set<ino_t> unix_sockets_here() {
  std::set<ino_t> inodes;
  std::ifstream table("/proc/self/net/unix");
  std::string line;
  std::getline(table, line);  // the heads of the columns
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string skipped;
    ino_t inode = 0;
    for (int i = 0; i < 6; ++i) words >> skipped;
    if (words >> inode) inodes.insert(inode);
  }
  return inodes;
}

// How many ways out of its namespaces a process holds.
int channels_of(pid_t pid) {
  const std::set<ino_t> here = unix_sockets_here();
  int count = 0;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    struct stat about{};
    if (::stat(entry.path().c_str(), &about) == 0 && S_ISSOCK(about.st_mode) && here.contains(about.st_ino)) ++count;
  }
  return count;
}

class HelperSupervisionTest : public GateTest {
 protected:
  // A tree that nobody asked to end, in a thread of its own; `init` is the jail's first process.
  struct Running {
    std::string marker = unique_marker();
    std::stop_source stop{};
    std::future<Result<JailedSubprocessResult>> result{};
    pid_t init = 0;
    pid_t helper = 0;
  };

  [[nodiscard]] std::unique_ptr<Running> start(Gate& gate, std::chrono::milliseconds wall = 10min) const {
    auto running = std::make_unique<Running>();
    JailedSubprocessSpec what = spec({"sleep_tree", running->marker});
    what.limits.wall = wall;
    running->result = std::async(std::launch::async, [&gate, what, token = running->stop.get_token()] {
      return gate.run(what, JailKind::kNative, token);
    });
    EXPECT_TRUE(all_there(running->marker, 3));
    // The tree's first process is the one whose parent is not of the tree.
    const std::vector<pid_t> tree = find_processes(running->marker);
    for (const pid_t pid : tree) {
      if (std::ranges::find(tree, stat_of(pid).parent) == tree.end()) running->init = stat_of(pid).parent;
    }
    running->helper = stat_of(running->init).parent;
    EXPECT_EQ(stat_of(running->helper).parent, ::getpid());
    return running;
  }
};

TEST_F(HelperSupervisionTest, C9_the_deadline_ends_a_jail_whose_init_is_stopped) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::unique_ptr<Running> run = start(*gate, 2s);
  ASSERT_EQ(::kill(run->init, SIGSTOP), 0);
  for (int i = 0; i < 1000 && stat_of(run->init).state != 'T'; ++i) std::this_thread::sleep_for(1ms);
  ASSERT_EQ(stat_of(run->init).state, 'T') << "the control: it cannot do anything itself";
  const Result<JailedSubprocessResult> result = run->result.get();
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(std::holds_alternative<TimedOut>(result->outcome));
  EXPECT_TRUE(find_processes(run->marker).empty());
}

TEST_F(HelperSupervisionTest, an_init_that_is_killed_ends_its_own_run_and_no_other) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::unique_ptr<Running> killed = start(*gate);
  const std::unique_ptr<Running> other = start(*gate);
  EXPECT_EQ(killed->helper, other->helper);
  ASSERT_EQ(::kill(killed->init, SIGKILL), 0);
  const Result<JailedSubprocessResult> result = killed->result.get();
  EXPECT_FALSE(result.has_value()) << "how the tool ended is not known";
  if (!result) {
    EXPECT_NE(result.error().as<JailDied>(), nullptr) << result.error().message;
  }
  EXPECT_TRUE(find_processes(killed->marker).empty());
  EXPECT_EQ(find_processes(other->marker).size(), 3U) << "the other one lives on";
  other->stop.request_stop();
  const Result<JailedSubprocessResult> stopped = other->result.get();
  ASSERT_TRUE(stopped.has_value());
  EXPECT_TRUE(std::holds_alternative<Cancelled>(stopped->outcome));
  EXPECT_TRUE(find_processes(other->marker).empty());
}

TEST_F(HelperSupervisionTest, no_init_holds_the_channel_of_another_run) {
  constexpr int kRuns = 4;
  const std::unique_ptr<Gate> gate = open_gate();
  std::vector<std::unique_ptr<Running>> runs;
  runs.reserve(kRuns);
  for (int i = 0; i < kRuns; ++i) runs.push_back(start(*gate));
  std::vector<pid_t> busy;
  for (const auto& run : runs) {
    busy.push_back(run->init);
    EXPECT_EQ(channels_of(run->init), 1) << "its own channel";
  }
  EXPECT_GE(channels_of(runs[0]->helper), kRuns) << "the control: all of them are open where they could come from";
  for (const pid_t child : children_of(runs[0]->helper)) {
    if (std::ranges::find(busy, child) != busy.end()) continue;
    int channels = channels_of(child);
    for (int i = 0; i < 200 && channels > 2; ++i) {  // one just cloned still closes what it has inherited
      std::this_thread::sleep_for(20ms);
      channels = channels_of(child);
    }
    EXPECT_LE(channels, 2) << "one that waits: the control socket and the one to the helper";
  }
  for (const auto& run : runs) run->stop.request_stop();
  for (const auto& run : runs) EXPECT_TRUE(run->result.get().has_value());
}

TEST_F(HelperSupervisionTest, after_many_at_once_only_a_few_jails_are_kept_waiting) {
  const std::unique_ptr<Gate> gate = open_gate();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 40; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(exit_code(run(*gate, spec({"exit_with", "3"}), JailKind::kNative)), 3); });
  }
  threads.clear();
  const std::size_t few = spawn::HelperClient::kIdleChildren + std::thread::hardware_concurrency();
  std::size_t waiting = 1000;
  for (int i = 0; i < 200 && waiting > few; ++i) {
    std::this_thread::sleep_for(20ms);
    waiting = 0;
    for (const pid_t helper : children_of(::getpid())) waiting = std::max(waiting, children_of(helper).size());
  }
  EXPECT_LE(waiting, few);
  EXPECT_GT(waiting, 0U);
}

class TightHelperTest : public HelperSupervisionTest, public testing::WithParamInterface<JailKind> {
 protected:
  // Starts `runs` calls at once. The number of those that did not run.
  int refused_of(Gate& gate, int runs, const std::string& marker) const {
    std::atomic<int> refused = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < runs; ++i) {
      threads.emplace_back([&] {
        JailedSubprocessSpec what = spec({"sleep_tree", marker});
        what.limits.wall = 300ms;
        const Result<JailedSubprocessResult> result = gate.run(what, GetParam(), {});
        if (!result || !std::holds_alternative<TimedOut>(result->outcome)) ++refused;
      });
    }
    threads.clear();
    return refused;
  }
};

// Whichever step lacks a descriptor, each run ends, with a refusal if necessary. A run whose channel does not reach the helper
// must not start: nobody could stop it.
TEST_P(TightHelperTest, without_descriptors_it_refuses_and_recovers) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(config()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.run(spec({"exit_with", "0"}), GetParam(), {}).has_value());
  const pid_t helper = engine.helper_pid_for_tests();
  struct rlimit before{};
  ASSERT_EQ(::prlimit(helper, RLIMIT_NOFILE, nullptr, &before), 0);
  int refused = 0;
  for (const rlim_t descriptors : {6, 10, 11, 12, 14, 16, 20, 26}) {
    SCOPED_TRACE(descriptors);
    const rlimit tight{.rlim_cur = descriptors, .rlim_max = before.rlim_max};
    ASSERT_EQ(::prlimit(helper, RLIMIT_NOFILE, &tight, nullptr), 0);
    const std::string marker = unique_marker();
    refused += refused_of(engine, 8, marker);
    EXPECT_TRUE(find_processes(marker).empty());
    EXPECT_EQ(engine.helper_pid_for_tests(), helper) << "it lives on";
    ASSERT_EQ(::prlimit(helper, RLIMIT_NOFILE, &before, nullptr), 0);
    // Those that were started without descriptors are used up first.
    bool works = false;
    for (int i = 0; i < 10 && !works; ++i) works = engine.run(spec({"exit_with", "0"}), GetParam(), {}).has_value();
    EXPECT_TRUE(works);
  }
  EXPECT_GT(refused, 8) << "the control: there were too few";
}

INSTANTIATE_TEST_SUITE_P(gate, TightHelperTest, testing::Values(JailKind::kNone, JailKind::kNative), jail_name);

TEST_F(HelperSupervisionTest, the_helper_runs_from_a_file_that_nobody_can_change_any_more) {
  const std::unique_ptr<HostGate> engine_gate = HostGate::open(config()).value();
  HostGate& engine = *engine_gate;
  ASSERT_TRUE(engine.run(spec({"exit_with", "0"}), JailKind::kNative, {}).has_value());
  const std::string exe = "/proc/" + std::to_string(engine.helper_pid_for_tests()) + "/exe";
  EXPECT_TRUE(fs::read_symlink(exe).string().starts_with("/memfd:sallyport-spawn")) << fs::read_symlink(exe);
  const UniqueFd image(::open(exe.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(image);
  const int all = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  EXPECT_EQ(::fcntl(image.get(), F_GET_SEALS) & all, all);
}

}  // namespace
}  // namespace sallyport::test
