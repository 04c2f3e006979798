// SIGKILL of the owner at random moments of a run: nothing survives, or the next start removes it, and the repo is as
// it was to the byte (C10, C16).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "conformance/surroundings.h"
#include "support/jails.h"
#include "support/processes.h"
#include "support/program.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;

// Every path with its content, mode and times.
std::map<std::string, std::string> picture_of(const fs::path& root) {
  std::map<std::string, std::string> picture;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    struct stat about{};
    lstat(entry.path().c_str(), &about);
    picture[entry.path()] = std::to_string(about.st_mode) + " " + std::to_string(about.st_mtim.tv_sec) + "." +
                            std::to_string(about.st_mtim.tv_nsec) + " " +
                            (entry.is_regular_file() ? test::read_file(entry.path()) : std::string());
  }
  return picture;
}

// Run cgroups and scratch directories carry their owner's pid in their name; other tests may have theirs.
std::set<std::string> left_by(const std::set<pid_t>& owners) {
  std::set<std::string> found;
  std::error_code error;
  for (const fs::path& root : {fs::path("/sys/fs/cgroup"), fs::path("/tmp")}) {
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator it(root, options, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename();
      if (root == "/tmp") it.disable_recursion_pending();
      for (const pid_t owner : owners) {
        if (name.starts_with("sallyport-" + std::to_string(geteuid()) + "-" + std::to_string(owner) + "-")) {
          found.insert(it->path());
        }
      }
    }
  }
  return found;
}

class OwnerKilled : public testing::TestWithParam<std::string> {};

TEST_P(OwnerKilled, AtFiftyRandomMomentsLeavesNothing_C10) {
  constexpr int kMoments = 50;
  const test::TempDir repo;
  const test::TempDir tools;
  test::make_git_repo(repo.path());
  fs::copy_file(attack_program(), tools / attack::kProgramName);
  const std::string marker = test::unique_marker();
  const auto command = [&](const char* how_often) {
    return std::vector<std::string>{SALLYPORT_TEST_OWNER, GetParam(), how_often, repo.path(), tools.path(), marker};
  };
  ASSERT_EQ(test::run_program(command("once")).exit_code, 0) << "the positive control: it does run";
  const auto repo_before = picture_of(repo.path());
  const std::string mounts_before = test::read_file("/proc/self/mountinfo");
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> delay_us(0, 30'000);
  std::set<pid_t> owners;
  for (int moment = 0; moment < kMoments; ++moment) {
    test::Program owner = test::Program::start(command("forever"));
    owners.insert(owner.pid());
    ASSERT_TRUE(owner.wait_for_stdout("running"));
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    owner.send_signal(SIGKILL);
    ASSERT_EQ(owner.wait().signal, SIGKILL);
  }
  EXPECT_TRUE(test::all_gone(marker));
  EXPECT_EQ(test::read_file("/proc/self/mountinfo"), mounts_before);
  EXPECT_EQ(picture_of(repo.path()), repo_before);
  ASSERT_EQ(test::run_program(command("once")).exit_code, 0) << "the next start";
  EXPECT_EQ(left_by(owners), std::set<std::string>());
}

// A mount would hit this short moment only by luck. So strace makes the helper's third ppoll, the one after it has received
// the request, report that the host's mounts have changed. The first ppoll checks its parent, the second the mounts when the
// jail is started.
TEST(StaleJail, ARequestThatMeetsOneGetsAFreshOne) {
  const test::TempDir repo;
  const test::TempDir tools;
  fs::copy_file(attack_program(), tools / attack::kProgramName);
  const std::string trace = tools / "trace";
  const test::ProgramResult result = test::run_program(
      {"/usr/bin/strace", "-f", "-o", trace, "-e", "trace=sendmsg,ppoll", "-e", "inject=ppoll:retval=1:when=3",
       SALLYPORT_TEST_OWNER, "native", "once", repo.path(), tools.path(), test::unique_marker()});
  EXPECT_EQ(result.exit_code, 0) << result.stderr_bytes;
  // spawn/helper/run.h: a Handover of two words, kStale and the number of the child.
  std::istringstream calls(test::read_file(trace));
  bool one_was_stale = false;
  for (std::string call; std::getline(calls, call);) {
    one_was_stale |= call.contains("iov_base=\"\\1\\0\\0\\0") && call.contains("iov_len=8}");
  }
  EXPECT_TRUE(one_was_stale) << "the control";
}

std::vector<std::string> jails_by_name() {
  std::vector<std::string> names;
  for (const JailKind jail : test::confining_jails()) names.emplace_back(jail.name());
  return names;
}

INSTANTIATE_TEST_SUITE_P(, OwnerKilled, testing::ValuesIn(jails_by_name()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sallyport::conformance
