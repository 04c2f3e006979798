// The macOS jail and its POSIX owner side, built without anything of Linux, against a stand-in for sandbox-exec (C19, C40).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "core/view/host_view.h"
#include "jails/sandbox_exec/sandbox_exec_jail.h"
#include "spawn/posix/posix_run.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace sallyport::test {
namespace {

const std::filesystem::path kBin = SALLYPORT_TEST_POSIX_DIR;
const std::filesystem::path kTools = SALLYPORT_TEST_MISBEHAVE_DIR;

UniqueFd open_at(const std::filesystem::path& path, int flags) {
  return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
}

// What the gate does for a jail, as far as this one asks.
class Host final : public CallHost {
 public:
  [[nodiscard]] Result<std::shared_ptr<const Executable>> pin_tool() override { return tool; }
  [[nodiscard]] Result<Executable> pin_wrapper(std::string_view name) override {
    EXPECT_EQ(name, "sandbox-exec");
    return Executable{.exec_path = launcher};
  }
  [[nodiscard]] Result<HeldLimits> hold_limits(const LimitsWanted&) override { return HeldLimits(); }
  [[nodiscard]] Result<const HostView*> view() override { return &shown; }
  [[nodiscard]] Result<const spawn::NetworkSpec*> network() override { std::abort(); }

  std::shared_ptr<const Executable> tool;
  std::string launcher = kBin / "sandbox-exec";
  HostView shown;
};

struct Seen {
  std::vector<RunReport> reports;
  std::string out;
  std::string err;

  template <class Report>
  [[nodiscard]] const Report* get() const {
    for (const RunReport& report : reports) {
      if (const auto* found = std::get_if<Report>(&report)) return found;
    }
    return nullptr;
  }
};

class PosixRunTest : public testing::Test {
 protected:
  PosixRunTest() {
    ::signal(SIGPIPE, SIG_IGN);  // NOLINT: macOS has a socket option instead of the flag of send(2)
    std::filesystem::create_directories(dir_ / "repo");
    std::filesystem::create_directories(dir_ / "scratch");
    plan_.repo = dir_ / "repo";
    plan_.cwd = plan_.repo;
    cwd_ = open_at(plan_.cwd, O_RDONLY | O_DIRECTORY);
    null_ = open_at("/dev/null", O_RDONLY);
    show(plan_.repo, RepoAccess::kReadOnly);
  }

  void show(const std::string& path, RepoAccess access) {
    host_.shown.entries.push_back({.kind = ViewKind::kBind, .target = path, .source = path, .access = access});
  }

  [[nodiscard]] sandbox_exec::Options options() const {
    return {.launcher = kBin / "sandbox-exec",
            .init = kBin / "sallyport-posix-init",
            .scratch_root = dir_ / "scratch",
            .stand_in_for_tests = true};
  }

  [[nodiscard]] Result<std::unique_ptr<StagedRun>> stage(std::vector<std::string> argv) {
    const std::string path = kTools / argv[0];
    plan_.argv = argv;
    host_.tool = std::make_shared<const Executable>(
        Executable{.identity = BinaryIdentity{.path = path}, .argv0 = argv[0], .exec_path = path});
    return jail_.stage({.plan = plan_, .executable = *host_.tool, .cwd = cwd_.get(), .host = host_});
  }

  // Starts it, and stops it by these steps once it has started and said something; to its end.
  Seen run(std::vector<std::string> argv, const std::vector<StopStep>& steps = {}) {
    Result<std::unique_ptr<StagedRun>> staged = stage(std::move(argv));
    EXPECT_TRUE(staged) << staged.error().message;
    std::array<UniqueFd, 2> out = pipe();
    std::array<UniqueFd, 2> err = pipe();
    Result<std::unique_ptr<LiveRun>> live =
        (*staged)->start({.in = null_.get(), .out = out[1].get(), .err = err[1].get()});
    EXPECT_TRUE(live) << live.error().message;
    out[1].reset();
    err[1].reset();
    Seen seen;
    std::size_t step = 0;
    for (bool over = false; !over;) {
      std::array<pollfd, 3> watched = {
          {{out[0].get(), POLLIN, 0}, {err[0].get(), POLLIN, 0}, {(*live)->event_fd(), POLLIN, 0}}};
      EXPECT_GT(::poll(watched.data(), watched.size(), 20000), 0) << "nothing happens";
      if (watched[0].revents != 0) read_some(out[0], seen.out);
      if (watched[1].revents != 0) read_some(err[0], seen.err);
      while (!seen.out.empty() && step < steps.size()) (*live)->stop(steps[step++]);
      if (watched[2].revents == 0 && (*live)->event_fd() >= 0) continue;
      Result<RunReport> report = (*live)->next();
      EXPECT_TRUE(report);
      const auto* end = std::get_if<ToolEnded>(&*report);
      over = std::holds_alternative<RunGone>(*report) || (end != nullptr && end->is_last);
      seen.reports.push_back(*std::move(report));
    }
    while (out[0] && read_some(out[0], seen.out)) {
    }
    while (err[0] && read_some(err[0], seen.err)) {
    }
    return seen;
  }

  static std::array<UniqueFd, 2> pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }

  static bool read_some(UniqueFd& from, std::string& into) {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
    if (got <= 0) from.reset();
    return got > 0;
  }

  [[nodiscard]] bool scratch_is_empty() const { return std::filesystem::is_empty(dir_ / "scratch"); }

  TempDir dir_;
  Plan plan_;
  Host host_;
  UniqueFd cwd_;
  UniqueFd null_;
  sandbox_exec::SandboxExecJail jail_{options()};
};

TEST_F(PosixRunTest, ReportsTheToolsOwnEnd_C20) {
  const Seen seen = run({"exit_with", "137"});
  ASSERT_NE(seen.get<ToolStarted>(), nullptr);
  ASSERT_NE(seen.get<ToolEnded>(), nullptr);
  EXPECT_EQ(WEXITSTATUS(seen.get<ToolEnded>()->wait_status), 137);
  EXPECT_FALSE(seen.get<ToolEnded>()->fate_unknown);
  const Seen killed = run({"die_by_signal", "11"});
  EXPECT_EQ(WTERMSIG(killed.get<ToolEnded>()->wait_status), SIGSEGV);
  EXPECT_TRUE(scratch_is_empty());
}

TEST_F(PosixRunTest, PassesArgumentsEnvironmentAndDirectory_C7) {
  EXPECT_EQ(run({"print_args", "", "two words", "-D", "--"}).out, "[]\n[two words]\n[-D]\n[--]\n");
  EXPECT_EQ(run({"print_cwd"}).out, plan_.cwd.string() + "\n");
  plan_.env = {{"GIVEN", "yes"}, {"HOME", "/elsewhere"}};
  const std::string env = run({"print_env"}).out;
  EXPECT_THAT(env, testing::HasSubstr("GIVEN=yes\n"));
  EXPECT_THAT(env, testing::HasSubstr("HOME=" + (dir_ / "scratch").string()));
  EXPECT_THAT(env, testing::Not(testing::HasSubstr("/elsewhere")));
}

TEST_F(PosixRunTest, HandsTheToolNothingThatTheCallerForgotToClose) {
  const UniqueFd forgotten(::open("/etc/passwd", O_RDONLY));  // NOLINT: not close-on-exec, which is the point
  const std::string fds = run({"print_fds"}).out;
  EXPECT_THAT(fds, testing::HasSubstr("0 /dev/null"));
  EXPECT_THAT(fds, testing::Not(testing::HasSubstr("passwd")));
  EXPECT_EQ(std::ranges::count(fds, '\n'), 3) << fds;
}

// A nested sandbox is refused by macOS; the tool must not have run, and the words say why.
TEST_F(PosixRunTest, ReportsASandboxThatCannotBeMade_C40) {
  show(dir_ / "scratch", RepoAccess::kWritable);
  const std::string mark = dir_ / "scratch" / "mark";
  plan_.env = {{"STAND_IN_IS_NESTED", "1"}};
  const Seen seen = run({"leave_mark", mark});
  ASSERT_NE(seen.get<StartFailed>(), nullptr);
  EXPECT_TRUE(seen.get<StartFailed>()->host_cannot);
  EXPECT_TRUE(seen.get<StartFailed>()->said_on_stderr);
  EXPECT_EQ(seen.get<ToolStarted>(), nullptr);
  EXPECT_THAT(seen.err, testing::HasSubstr("sandbox_apply"));
  EXPECT_FALSE(std::filesystem::exists(mark));
  plan_.env = {};
  run({"leave_mark", mark});
  EXPECT_TRUE(std::filesystem::exists(mark)) << "the control";
}

TEST_F(PosixRunTest, ReportsAToolThatCannotBeExecuted) {
  const std::string gone = dir_ / "repo" / "gone";
  const spawn::posix::Launch launch{.wrapper = {"/usr/bin/env"},
                                    .init = kBin / "sallyport-posix-init",
                                    .exe = gone,
                                    .argv = {"gone"},
                                    .cwd = cwd_.get()};
  Result<std::unique_ptr<LiveRun>> live =
      spawn::posix::start_run(launch, {.in = null_.get(), .out = null_.get(), .err = null_.get()});
  ASSERT_TRUE(live);
  Result<RunReport> report = RunReport(NothingNew{});
  while (report && std::holds_alternative<NothingNew>(*report)) {
    pollfd news{(*live)->event_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&news, 1, 20000), 1);
    report = (*live)->next();
  }
  const auto* failed = std::get_if<StartFailed>(&*report);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->stage, SetupStage::kExec);
  EXPECT_EQ(failed->error_number, ENOENT);
}

class StopsBy : public PosixRunTest, public testing::WithParamInterface<StopStep> {};
INSTANTIATE_TEST_SUITE_P(, StopsBy, testing::Values(StopStep::kKill, StopStep::kForce, StopStep::kAbandon));

// All three are deaf to SIGTERM.
TEST_P(StopsBy, AndNobodyOfTheGroupIsLeft_C9) {
  const std::string marker = unique_marker();
  const Seen seen = run({"sleep_tree", marker}, {StopStep::kTerminate, GetParam()});
  EXPECT_NE(seen.get<ToolStarted>(), nullptr);
  EXPECT_TRUE(all_gone(marker));
  EXPECT_TRUE(scratch_is_empty());
}

TEST_P(StopsBy, AToolWhoseStartWasNotReadYet_C9) {  // its report names the group
  const std::string marker = unique_marker();
  Result<std::unique_ptr<StagedRun>> staged = stage({"sleep_tree", marker});
  ASSERT_TRUE(staged);
  std::array<UniqueFd, 2> out = pipe();
  Result<std::unique_ptr<LiveRun>> live =
      (*staged)->start({.in = null_.get(), .out = out[1].get(), .err = out[1].get()});
  ASSERT_TRUE(live);
  ASSERT_TRUE(all_there(marker, 3));
  (*live)->stop(GetParam());
  EXPECT_TRUE(all_gone(marker));
}

TEST_F(PosixRunTest, EndsTheRestOfTheGroupWithTheTool_C9) {
  const std::string marker = unique_marker();
  const Seen seen = run({"sleep_tree", marker}, {StopStep::kKill});
  EXPECT_EQ(WTERMSIG(seen.get<ToolEnded>()->wait_status), SIGKILL);
  EXPECT_FALSE(seen.get<ToolEnded>()->fate_unknown) << "our init reports it";
  EXPECT_TRUE(all_gone(marker));
}

// A process that leaves the group survives, so this jail lists neither limit.wall nor proc.dies_with_parent.
TEST_F(PosixRunTest, CannotEndAProcessThatLeavesTheGroupAndDoesNotClaimTo_C26) {
  const std::string marker = unique_marker();
  Result<std::unique_ptr<StagedRun>> staged = stage({"escape_daemon", marker});
  ASSERT_TRUE(staged);
  for (const Established& entry : (*staged)->would_establish()) {
    EXPECT_NE(entry.guarantee, Guarantee::kLimitWall);
    EXPECT_NE(entry.guarantee, Guarantee::kProcDiesWithParent);
    EXPECT_NE(entry.guarantee, Guarantee::kNetDnsClosed);
  }
}

TEST_F(PosixRunTest, EndsTheGroupWhenTheOwnerIsKilled_C10) {
  const std::string marker = unique_marker();
  const pid_t owner = ::fork();
  if (owner == 0) {
    static_cast<void>(run({"sleep_tree", marker}));
    ::_exit(0);
  }
  ASSERT_TRUE(all_there(marker, 3));
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(all_gone(marker));
  // What it could not remove goes with the next start (C16).
  EXPECT_FALSE(scratch_is_empty());
  run({"exit_with", "0"});
  EXPECT_TRUE(scratch_is_empty());
}

TEST_F(PosixRunTest, BoundsTheTimeOfAProcessor) {
  plan_.limits.cpu = std::chrono::milliseconds(900);
  const Seen seen = run({"burn_cpu", "5000"});
  EXPECT_EQ(WTERMSIG(seen.get<ToolEnded>()->wait_status), SIGXCPU);
}

TEST_F(PosixRunTest, RefusesASymlinkInThePlaceOfADirectory_C40) {
  std::filesystem::create_directory_symlink(dir_ / "repo", dir_ / "link");
  ASSERT_TRUE(stage({"exit_with", "0"}));
  show(dir_ / "link", RepoAccess::kWritable);
  const Result<std::unique_ptr<StagedRun>> staged = stage({"exit_with", "0"});
  ASSERT_FALSE(staged);
  EXPECT_NE(staged.error().as<InvalidRequest>(), nullptr);
  EXPECT_TRUE(scratch_is_empty());
}

TEST_F(PosixRunTest, StartsTheSystemsOwnLauncherOnly_C4) {
  host_.launcher = "/opt/elsewhere/sandbox-exec";
  const Result<std::unique_ptr<StagedRun>> staged = stage({"exit_with", "0"});
  ASSERT_FALSE(staged);
  EXPECT_NE(staged.error().as<UntrustedToolError>(), nullptr);
  EXPECT_EQ(sandbox_exec::Options().launcher, "/usr/bin/sandbox-exec");
}

TEST_F(PosixRunTest, RefusesWhatItHasNoMeansFor_C26) {
  ASSERT_TRUE(stage({"exit_with", "0"}));
  const Plan plain = plan_;
  const auto refused = [&](Guarantee guarantee) {
    const Result<std::unique_ptr<StagedRun>> staged = stage({"exit_with", "0"});
    plan_ = plain;
    const auto* why = staged ? nullptr : staged.error().as<GuaranteeUnavailable>();
    return why != nullptr && why->guarantee == guarantee;
  };
  plan_.limits.memory = mebibytes(64);
  EXPECT_TRUE(refused(Guarantee::kLimitMemory));
  plan_.limits.pids = 8;
  EXPECT_TRUE(refused(Guarantee::kLimitPids));
  plan_.limits.disk = mebibytes(64);
  EXPECT_TRUE(refused(Guarantee::kLimitDisk));
  plan_.run_as = UserIds{.uid = 1, .gid = 1};
  EXPECT_FALSE(stage({"exit_with", "0"}));
}

TEST_F(PosixRunTest, NeedsMacOs_C40) {
  sandbox_exec::SandboxExecJail real;
  const Status usable = real.usable();
  ASSERT_FALSE(usable);
  EXPECT_NE(usable.error().as<JailUnavailable>(), nullptr);
  EXPECT_THAT(usable.error().message, testing::HasSubstr("macOS"));
  EXPECT_TRUE(jail_.usable()) << "the control";
}

}  // namespace
}  // namespace sallyport::test
