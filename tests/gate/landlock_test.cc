// The second lock: what it stops that a read-only mount lets pass, and that a receipt names it only where it stands.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/view/fs_view.h"
#include "gate/gate_fixture.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

constexpr std::string_view kTwice = "mounts+landlock";

class LandlockTest : public EveryJailTest {
 protected:
  LandlockTest() {
    EXPECT_EQ(::mkfifo((repo_ / "pipe").c_str(), 0666), 0);
    reader_ = UniqueFd(::open((repo_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }

  // What has arrived from a tool that was asked to write to this path.
  std::string written_by(Gate& gate, const std::string& path, JailKind jail) {
    static_cast<void>(run(gate, spec({"write_to", path}), jail));
    char arrived[64];
    const ssize_t got = ::read(reader_.get(), arrived, sizeof arrived);
    return {arrived, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }

  UniqueFd reader_;
};

TEST_P(LandlockTest, a_pipe_in_a_read_only_repo_has_no_other_guard) {
  const std::unique_ptr<Gate> gate = open_gate();
  const JailedSubprocessResult any = run(*gate, spec({"exit_with", "0"}), GetParam());
  EXPECT_EQ(written_by(*gate, repo_ / "pipe", JailKind::kNone), "was here") << "positive control";
  const bool landlocked = mechanism_of(any, Guarantee::kFsReadonlySystem) == kTwice;
  EXPECT_EQ(written_by(*gate, std::string(kJailRepo) + "/pipe", GetParam()), landlocked ? "" : "was here");
  // By its own name this repo mostly lies below /tmp, where nothing stops it: the threat model says so, and so does the receipt.
  const bool guarded = landlocked && !repo_.string().starts_with("/tmp/");
  EXPECT_EQ(written_by(*gate, repo_ / "pipe", GetParam()), guarded ? "" : "was here");
  EXPECT_EQ(mechanism_of(any, Guarantee::kFsWriteConfined), guarded ? kTwice : "mounts");
}

TEST_P(LandlockTest, is_named_only_when_nothing_protected_lies_in_a_writable_place) {
  // Not below /tmp, as the tests' own directories are, and without programs: a tool is never taken from the repo.
  const char* elsewhere = "/usr/share";
  GateConfig config = this->config();
  config.repo = elsewhere;
  const std::unique_ptr<Gate> gate = Gate::open(config).value();
  // A tool of the system: those of the tests may lie below /tmp themselves.
  JailedSubprocessSpec what = spec({"git", "--version"});
  what.repo = what.cwd = elsewhere;
  const JailedSubprocessResult apart = run(*gate, what, GetParam());
  EXPECT_EQ(mechanism_of(apart, Guarantee::kFsWriteConfined), mechanism_of(apart, Guarantee::kFsReadonlySystem));
  what.extra_read_write = {dir_.path()};
  what.extra_read_only = {repo_};
  EXPECT_EQ(mechanism_of(run(*gate, what, GetParam()), Guarantee::kFsWriteConfined), "mounts");
}

INSTANTIATE_TEST_SUITE_P(gate, LandlockTest, testing::ValuesIn(jails_with_a_root()), jail_name);

}  // namespace
}  // namespace sallyport::test
