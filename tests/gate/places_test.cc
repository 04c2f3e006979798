// Where things are shown, whom a descriptor belongs to, and what a receipt says about it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "gate/gate_fixture.h"
#include "os/pipe.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

// A directory below /var/tmp, and the directory of the same name below /tmp, which must never come to be.
class VarTmp {
 public:
  VarTmp() {
    std::string name = "/var/tmp/sallyport-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
    fs::permissions(path_, fs::perms(0755));
    fs::create_directory(path_ / "repo");
    fs::create_directory(path_ / "more");
  }
  ~VarTmp() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fs::remove_all(twin(), ignored);
  }
  VarTmp(const VarTmp&) = delete;
  VarTmp& operator=(const VarTmp&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] fs::path twin() const { return fs::path("/tmp") / path_.filename(); }

 private:
  fs::path path_;
};

class PlacesTest : public EveryJailTest {
 protected:
  [[nodiscard]] static JailedSubprocessSpec in(const fs::path& repo, std::vector<std::string> argv) {
    return {.argv = std::move(argv), .repo = repo, .cwd = repo, .limits = {.wall = std::chrono::seconds(60)}};
  }
};

TEST_P(PlacesTest, a_repo_below_var_tmp_is_shown_there_and_leaves_nothing_in_tmp) {
  const VarTmp place;
  GateConfig elsewhere = config();
  elsewhere.repo = place.path() / "repo";
  const Result<std::unique_ptr<Gate>> gate = Gate::open(std::move(elsewhere));
  ASSERT_TRUE(gate);
  JailedSubprocessSpec what = in(place.path() / "repo", {"print_cwd"});
  what.extra_read_only = {place.path() / "more"};
  EXPECT_EQ(run(**gate, what, GetParam()).stdout_stream.bytes, (place.path() / "repo").string() + "\n");
  EXPECT_FALSE(fs::exists(place.twin()));
  // What is written to the rest of /var/tmp is the run's own.
  EXPECT_EQ(
      exit_code(run(**gate, in(place.path() / "repo", {"leave_mark", place.path().string() + ".mark"}), GetParam())),
      0);
  EXPECT_FALSE(fs::exists(place.path().string() + ".mark"));
}

TEST_P(PlacesTest, a_symlink_in_tmp_does_not_lead_what_is_made_for_var_tmp) {
  const VarTmp place;
  fs::create_directory(dir_ / "elsewhere");
  fs::create_symlink(dir_ / "elsewhere", place.twin());
  GateConfig config_there = config();
  config_there.repo = place.path() / "repo";
  const Result<std::unique_ptr<Gate>> gate = Gate::open(std::move(config_there));
  ASSERT_TRUE(gate);
  EXPECT_EQ(exit_code(run(**gate, in(place.path() / "repo", {"print_cwd"}), GetParam())), 0);
  EXPECT_TRUE(fs::is_empty(dir_ / "elsewhere"));
}

TEST_P(PlacesTest, what_the_jail_has_itself_can_be_covered_by_the_hosts) {
  const std::unique_ptr<Gate> gate = open_gate();
  for (const char* path : {"/etc/hosts", "/etc/passwd", "/etc/ssl/certs", "/etc/ld.so.cache"}) {
    if (!fs::exists(path)) continue;
    JailedSubprocessSpec what = spec({"exit_with", "3"});
    what.extra_read_only = {path};
    EXPECT_EQ(exit_code(run(*gate, what, GetParam())), 3) << path;
  }
  for (const char* path : {"/dev/null", "/proc/self", "/sys"}) {
    JailedSubprocessSpec what = spec({"exit_with", "3"});
    what.extra_read_only = {path};
    const Result<JailedSubprocessResult> refused = gate->run(what, GetParam(), {});
    ASSERT_FALSE(refused) << path;
    EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
  }
}

TEST_P(PlacesTest, C26_a_path_that_takes_a_guarantee_away_refuses_whoever_requires_it) {
  const std::unique_ptr<Gate> gate = open_gate();
  fs::create_directory(dir_ / "open");
  JailedSubprocessSpec what = spec({"leave_mark", (dir_ / "open/mark").string()});
  what.extra_read_write = {dir_ / "open"};
  // The control: it runs, and its receipt says less.
  const JailedSubprocessResult result = run(*gate, what, GetParam());
  EXPECT_TRUE(fs::remove(dir_ / "open/mark"));
  EXPECT_EQ(mechanism_of(result, Guarantee::kFsPrivateTmp), "");
  EXPECT_NE(mechanism_of(result, Guarantee::kFsReadonlySystem), "");
  EXPECT_NE(mechanism_of(run(*gate, spec({"print_cwd"}), GetParam()), Guarantee::kFsPrivateTmp), "");
  what.required = {Guarantee::kFsPrivateTmp};
  const Result<JailedSubprocessResult> refused = gate->run(what, GetParam(), {});
  ASSERT_FALSE(refused);
  const auto* missing = refused.error().as<GuaranteeUnavailable>();
  ASSERT_NE(missing, nullptr) << refused.error().message;
  EXPECT_EQ(missing->guarantee, Guarantee::kFsPrivateTmp);
  EXPECT_NE(refused.error().message.find((dir_ / "open").string()), std::string::npos) << refused.error().message;
  EXPECT_FALSE(fs::exists(dir_ / "open/mark"));
}

TEST_P(PlacesTest, a_file_as_stdin_cannot_be_written_unless_the_descriptor_itself_is_given) {
  const std::unique_ptr<Gate> gate = open_gate();
  write_file(dir_ / "input", "from a file");
  const UniqueFd file(::open((dir_ / "input").c_str(), O_RDWR | O_CLOEXEC));
  JailedSubprocessSpec what = spec({"write_to", "/proc/self/fd/0"});
  what.stdin_source = StdinFd{file.get()};
  EXPECT_NE(exit_code(run(*gate, what, GetParam())), -1);
  EXPECT_EQ(read_file(dir_ / "input"), "from a file");
  // The control: the descriptor itself, without the jail whose Landlock rules refuse the file, too.
  what.stdin_source = RawStdinFd{file.get()};
  EXPECT_EQ(exit_code(run(*gate, what, JailKind::kNone)), 0);
  EXPECT_EQ(read_file(dir_ / "input"), "was hereile");
}

TEST_P(PlacesTest, a_large_stdin_arrives_whole_and_one_that_never_ends_keeps_no_deadline) {
  const std::unique_ptr<Gate> gate = open_gate();
  std::string large(3U << 20U, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
  write_file(dir_ / "input", large);
  const UniqueFd file(::open((dir_ / "input").c_str(), O_RDONLY | O_CLOEXEC));
  JailedSubprocessSpec what = spec({"print_stdin"});
  what.stdin_source = StdinFd{file.get()};
  EXPECT_TRUE(run(*gate, what, GetParam()).stdout_stream.bytes == large);
  const Result<Pipe> pipe = make_pipe();
  ASSERT_TRUE(pipe);
  what.stdin_source = StdinFd{pipe->read_end.get()};
  what.limits.wall = std::chrono::milliseconds(300);
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run(*gate, what, GetParam()).outcome));
  // A tool that reads nothing of an endless input ends as it pleases.
  const UniqueFd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  JailedSubprocessSpec idle = spec({"exit_with", "4"});
  idle.stdin_source = StdinFd{zero.get()};
  EXPECT_EQ(exit_code(run(*gate, idle, GetParam())), 4);
}

TEST_P(PlacesTest, what_cannot_be_read_is_no_stdin) {
  const std::unique_ptr<Gate> gate = open_gate();
  const UniqueFd directory(::open(dir_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd write_only(::open((dir_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  for (const int fd : {directory.get(), write_only.get()}) {
    JailedSubprocessSpec what = spec({"print_stdin"});
    what.stdin_source = StdinFd{fd};
    const Result<JailedSubprocessResult> refused = gate->run(what, GetParam(), {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
  }
}

// Through a directory's descriptor every file below it can be opened, whatever the jail shows.
TEST_P(PlacesTest, a_directory_is_no_stdin_however_it_is_given) {
  const std::unique_ptr<Gate> gate = open_gate();
  fs::create_directory(dir_ / "outside");
  const fs::path mark = dir_ / "outside/mark";
  write_file(mark, "untouched by a tool");
  JailedSubprocessSpec what = spec({"write_to", "/proc/self/fd/0/mark"});
  for (const int flags : {O_RDONLY | O_DIRECTORY, O_PATH | O_DIRECTORY, O_PATH}) {
    const bool file = flags == O_PATH;
    const UniqueFd given(::open((file ? mark : mark.parent_path()).c_str(), flags | O_CLOEXEC));
    what.stdin_source = RawStdinFd{given.get()};
    for (const JailKind jail : {GetParam(), JailKind::kNone}) {
      const Result<JailedSubprocessResult> refused = gate->run(what, jail, {});
      ASSERT_FALSE(refused) << flags;
      EXPECT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
    }
  }
  EXPECT_EQ(read_file(mark), "untouched by a tool");
  // Control: without a jail and by its own path the tool does write it.
  what.stdin_source = NullStdin{};
  what.argv = {"write_to", mark.string()};
  EXPECT_EQ(exit_code(run(*gate, what, JailKind::kNone)), 0);
  EXPECT_NE(read_file(mark), "untouched by a tool");
}

INSTANTIATE_TEST_SUITE_P(Jails, PlacesTest, testing::ValuesIn(jails_with_a_root()), jail_name);

}  // namespace
}  // namespace sallyport::test
