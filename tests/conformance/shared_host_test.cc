// The landlock jail's differences: which programs work in it, what of a file may change, what it refuses, what it
// leaves behind (C40).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "conformance/surroundings.h"
#include "jails/landlock/landlock.h"
#include "os/landlock.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class SharedHost : public testing::Test {
 protected:
  SharedHost() {
    test::make_git_repo(repo_.path());
    test::write_file(repo_ / "hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n");
    fs::create_directory(repo_ / "open");
    test::write_file(repo_ / "open/file", "x");
  }

  [[nodiscard]] JailedSubprocessSpec spec(std::vector<std::string> argv) const {
    return {.argv = std::move(argv), .repo = repo_.path(), .cwd = repo_.path(), .limits = {.wall = 120s}};
  }
  [[nodiscard]] Result<JailedSubprocessResult> run(const JailedSubprocessSpec& what) const {
    const std::unique_ptr<Gate> gate =
        Gate::open(config_admitting(repo_.path(), {what.argv[0]}, {"/usr/bin", "/bin"})).value();
    return gate->run(what, JailKind::kLandlock, {});
  }
  // What a shell printed, on both streams.
  [[nodiscard]] std::string shell(const std::string& script, JailedSubprocessSpec what) const {
    what.argv = {"bash", "-c", script};
    const Result<JailedSubprocessResult> result = run(what);
    if (!result) return "refused: " + result.error().message;
    return result->stdout_stream.bytes + result->stderr_stream.bytes;
  }
  [[nodiscard]] std::string shell(const std::string& script) const { return shell(script, spec({})); }
  // The same with repo/open writable.
  [[nodiscard]] std::string shell_with_corner(const std::string& script) const {
    JailedSubprocessSpec what = spec({});
    what.extra_read_write = {repo_ / "open"};
    return shell(script, what);
  }
  void works(std::vector<std::string> argv, std::string_view expected) const {
    const Result<JailedSubprocessResult> result = run(spec(argv));
    ASSERT_TRUE(result) << argv[0] << ": " << result.error().message;
    const std::string all = result->stdout_stream.bytes + result->stderr_stream.bytes;
    EXPECT_NE(all.find(expected), std::string::npos) << argv[0] << ": " << all;
  }
  [[nodiscard]] mode_t mode_of(const fs::path& path) const {
    struct stat about{};
    EXPECT_EQ(::lstat((repo_.path() / path).c_str(), &about), 0);
    return about.st_mode & 07777;
  }

  test::TempDir repo_;
};

TEST_F(SharedHost, RunsRealPrograms) {
  works({"git", "status", "--short"}, "?? hello.c");
  works({"git", "log", "--oneline"}, " ");
  works({"rg", "puts"}, "hello.c");
  works({"jq", "-n", "6*7"}, "42");
  works({"npm", "--version"}, ".");
  works({"node", "-e",
         "const {Worker} = require('worker_threads');"
         "console.log(require('child_process').execSync('echo child').toString());"
         "new Worker('require(\"worker_threads\").parentPort.postMessage(6*7)', {eval: true})"
         ".on('message', m => console.log('answer', m))"},
        "answer 42");
  works({"python3", "-c", "import subprocess; print(subprocess.check_output(['/bin/echo', 'from python']))"},
        "from python");
  works({"bash", "-c", "gcc -o $TMPDIR/hello hello.c && $TMPDIR/hello"}, "hello");
  works({"bash", "-c", "cat <(echo substituted) /dev/fd/0 < /dev/null"}, "substituted");
}

// The worker changes modes, owners and times where the run may write: as archives, installers and git need it.
TEST_F(SharedHost, KeepsModesAndTimesInItsOwnDirectories) {
  EXPECT_EQ(shell("cd $TMPDIR && mkdir -m 1777 d && echo x > d/f && chmod 750 d/f && touch -d @1000 d/f && "
                  "chown $(id -u):$(id -g) d/f && tar cf t.tar d && mkdir o && tar xpf t.tar -C o && cp -a o/d c && "
                  "stat -c '%a %Y' c/f && stat -c %a c"),
            "750 1000\n1777\n");
  EXPECT_EQ(shell_with_corner(
                "chmod 640 open/file && cd open && chmod u+x file && touch -d @5 ./file && stat -c '%a %Y' file"),
            "740 5\n");
  EXPECT_EQ(mode_of("open/file"), 0740U);
}

TEST_F(SharedHost, ChangesNoModeOwnerOrTimeElsewhere_C22) {
  const mode_t before = mode_of("hello.c");
  struct stat was{};
  ASSERT_EQ(::lstat((repo_ / "hello.c").c_str(), &was), 0);
  // By name, through a symlink, a descriptor, /proc, another directory, and a link that is swapped under our eyes.
  const std::string said = shell_with_corner(R"(
    ln -s ../hello.c open/link
    chmod 777 hello.c; chmod 777 open/link; chmod 777 open/../hello.c; chmod 777 /proc/self/cwd/hello.c
    touch -d @1 hello.c; touch -h -d @1 hello.c; touch open/link; touch -c hello.c
    python3 -c '
import os
f = os.open("hello.c", os.O_RDONLY)
for change in (lambda: os.fchmod(f, 0o777), lambda: os.utime(f), lambda: os.chmod("/proc/self/fd/%d" % f, 0o777),
               lambda: os.setxattr(f, "user.x", b"x"), lambda: os.chmod("hello.c", 0o777, dir_fd=os.open(".", os.O_RDONLY)),
               lambda: os.chown(f, os.getuid(), os.getgid())):
    try:
        change(); print("CHANGED")
    except OSError: pass
'
    (while :; do ln -sfn file open/swap; ln -sfn ../hello.c open/swap; done) & swapper=$!
    for i in $(seq 300); do chmod 777 open/swap; done 2>/dev/null
    kill $swapper
  )");
  EXPECT_EQ(said.find("CHANGED"), std::string::npos) << said;
  EXPECT_NE(said.find("not permitted"), std::string::npos) << said;
  struct stat is{};
  ASSERT_EQ(::lstat((repo_ / "hello.c").c_str(), &is), 0);
  EXPECT_EQ(mode_of("hello.c"), before);
  EXPECT_EQ(is.st_ctim.tv_sec, was.st_ctim.tv_sec);
  EXPECT_EQ(is.st_ctim.tv_nsec, was.st_ctim.tv_nsec);
  EXPECT_EQ(mode_of("open/file"), 0777U) << "the control: the swapped link did lead to the writable file, too";
}

TEST_F(SharedHost, LeavesNoSetIdFile_C41) {
  EXPECT_NE(shell_with_corner("chmod u+s open/file").find("not permitted"), std::string::npos);
  EXPECT_EQ(mode_of("open/file") & 06000U, 0U);
}

TEST_F(SharedHost, HasItsOwnHomeAndTmpWhichVanish_C16) {
  const std::string said =
      shell("echo x > $HOME/f && echo y > $(mktemp) && echo $HOME $TMPDIR; ls /tmp; echo z > /tmp/mark");
  const fs::path home = said.substr(0, said.find(' '));
  EXPECT_TRUE(home.native().starts_with("/tmp/sallyport-")) << said;
  EXPECT_FALSE(fs::exists(home.parent_path())) << said;
  EXPECT_NE(said.find("cannot open directory '/tmp'"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists("/tmp/mark"));
}

// Directories that cannot be entered any more are removed all the same.
TEST_F(SharedHost, LeavesNothingOfAHostileScratch_C16) {
  const std::string said = shell(
      "mkdir -p $TMPDIR/a/b && touch $TMPDIR/a/b/c && chmod 000 $TMPDIR/a/b $TMPDIR/a && chmod 000 $TMPDIR; echo "
      "$HOME");
  EXPECT_FALSE(fs::exists(fs::path(said.substr(0, said.find('\n'))).parent_path())) << said;
}

TEST_F(SharedHost, CannotSignalOrSeeOthers) {
  if (landlock_abi() < 6) GTEST_SKIP() << "this kernel's Landlock does not hold signals back";
  EXPECT_NE(shell("kill -0 " + std::to_string(::getpid()) + " && echo SIGNALLED").find("not permitted"),
            std::string::npos);
  EXPECT_EQ(shell("kill -0 $$ && (sleep 100 & kill $!) && echo own"), "own\n") << "the control";
  EXPECT_EQ(shell("cat /proc/" + std::to_string(::getpid()) + "/cmdline 2>/dev/null; ls /proc 2>/dev/null; true"), "");
}

// A kernel whose Landlock holds no signals back lets the tool kill its worker: then what it started would live on.
TEST(SharedHostGuarantees, PromiseNoCommonDeathWithoutScopes_C26) {
  const auto has = [](const Plan& plan, int abi, Guarantee guarantee) {
    return std::ranges::any_of(landlock::establishes(plan, abi),
                               [guarantee](const Established& one) { return one.guarantee == guarantee; });
  };
  Plan plan;
  EXPECT_TRUE(has(plan, landlock::kScopesAbi, Guarantee::kProcDiesWithParent));
  EXPECT_FALSE(has(plan, landlock::kScopesAbi - 1, Guarantee::kProcDiesWithParent));
  EXPECT_FALSE(has(plan, landlock::kScopesAbi - 1, Guarantee::kLimitWall));
  EXPECT_TRUE(has(plan, kLowestLandlockAbi, Guarantee::kNetIsolated));
  plan.allowed_hosts = {*parse_host_rule("host.test")};
  EXPECT_FALSE(has(plan, kLowestLandlockAbi, Guarantee::kNetIsolated));
  EXPECT_TRUE(has(plan, kLowestLandlockAbi, Guarantee::kNetEgressAllowlist));
}

TEST_F(SharedHost, RefusesWhatItCannotClose_C26) {
  JailedSubprocessSpec what = spec({"bash", "-c", "true"});
  what.repo_access = RepoAccess::kWritable;
  const Result<JailedSubprocessResult> git = run(what);
  ASSERT_FALSE(git) << "a writable repo has a .git that must not be";
  ASSERT_NE(git.error().as<GuaranteeUnavailable>(), nullptr) << git.error().message;
  EXPECT_EQ(git.error().as<GuaranteeUnavailable>()->guarantee, Guarantee::kFsGitProtected);
  what.git_access = GitAccess::kWritable;
  const Result<JailedSubprocessResult> open = run(what);
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_FALSE(open->receipt.has(Guarantee::kFsGitProtected));
  what.extra_read_only = {repo_ / "open"};
  const Result<JailedSubprocessResult> closed = run(what);
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().as<GuaranteeUnavailable>(), nullptr) << closed.error().message;
}

}  // namespace
}  // namespace sallyport::conformance
