// The microVM jail by emulation: the outcomes of the contract, what its guest can and cannot do, and guests that misbehave. Slow: each
// run boots a kernel, so all of it has the label "long".
#include "jails/microvm/microvm_jail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "gate/gate_fixture.h"
#include "jails/native/native_jail.h"
#include "os/file.h"
#include "os/host_root.h"
#include "os/process_table.h"
#include "sallyport/microvm.h"
#include "spawn/owner/jail_supply.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string bytes_of(const std::filesystem::path& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Processes of QEMU's below this one, or orphaned by it: their jails' init has our directory in view.
bool qemu_runs_with(const std::string& word) {
  for (const ProcessEntry& process : list_processes().value()) {
    const Result<std::string> words =
        read_whole_file("/proc/" + std::to_string(process.pid) + "/cmdline", mebibytes(1));
    if (words && words->find("qemu-system") != std::string::npos && words->find(word) != std::string::npos) return true;
  }
  return false;
}

class Microvm : public GateTest {
 protected:
  Microvm() : native_(supply_) {
    if (const Status usable = jail_.usable(); !usable) skip_ = usable.error().message;
  }
  void SetUp() override {
    if (!skip_.empty()) GTEST_SKIP() << skip_;
    open();
  }
  void open() {
    GateConfig with_own = config();
    with_own.allowlist =
        Allowlist::from_policy(policy_admitting({"sh", "git", "rg", "node", "npm", "die_by_signal", "eat_memory",
                                                 "fill_scratch", "leave_mark", "print_bytes", "sleep_forever"}),
                               "test policy")
            .value();
    with_own.own_jails = {&broken_};
    gate_ = Gate::open(std::move(with_own)).value();
  }
  [[nodiscard]] JailedSubprocessSpec slow(std::vector<std::string> argv) const {
    JailedSubprocessSpec what = spec(std::move(argv));
    what.limits.wall = 10min;
    return what;
  }
  [[nodiscard]] Result<JailedSubprocessResult> try_run(const JailedSubprocessSpec& what,
                                                       JailKind jail = kMicrovmTcgJail) const {
    return gate_->run(what, jail, {});
  }
  [[nodiscard]] JailedSubprocessResult run(const JailedSubprocessSpec& what) const {
    return GateTest::run(*gate_, what, kMicrovmTcgJail);
  }
  // A run of "broken" with this process 1 in its guest.
  [[nodiscard]] Error with_init(const char* name, std::chrono::milliseconds patience) {
    init_ = bytes_of(std::filesystem::path(SALLYPORT_TEST_BAD_INITS) / name);
    EXPECT_FALSE(init_.empty());
    microvm::MicrovmJail bad(
        native_,
        {.kind = JailKind("bad"), .accelerator = microvm::Accelerator::kTcg, .patience = patience, .init = init_});
    GateConfig with_bad = config();
    with_bad.own_jails = {&bad};
    const std::unique_ptr<Gate> gate = Gate::open(std::move(with_bad)).value();
    Result<JailedSubprocessResult> result = gate->run(slow({"exit_with", "0"}), JailKind("bad"), {});
    EXPECT_FALSE(result.has_value());
    return result ? Error{} : std::move(result).error();
  }

  SharedHostRoot root_;
  spawn::JailSupply supply_{
      {.runs = spawn::SupplyFor::kManyRuns, .base = [this] { return native::render_base(root_.get()); }}};
  native::NativeJail native_;
  microvm::MicrovmJail jail_{native_, {.accelerator = microvm::Accelerator::kTcg}};
  microvm::MicrovmJail broken_{native_,
                               {.kind = JailKind("broken"),
                                .accelerator = microvm::Accelerator::kTcg,
                                .kernels = {.boot = dir_.path()},
                                .patience = 60s}};
  std::string init_;
  std::unique_ptr<Gate> gate_;
  std::string skip_;
};

TEST_F(Microvm, RunsTheToolOnAKernelOfItsOwn_C20) {
  JailedSubprocessSpec what = slow({"sh", "-c",
                                    "cat; echo complaint >&2; id -u; cat /proc/sys/kernel/random/boot_id; "
                                    "touch /usr/mark mark && echo written; exit 37"});
  what.stdin_source = StdinBytes{"given\n"};
  const JailedSubprocessResult result = run(what);
  EXPECT_EQ(exit_code(result), 37);
  EXPECT_THAT(result.stdout_stream.bytes, testing::StartsWith("given\n1000\n"));
  EXPECT_THAT(result.stdout_stream.bytes, testing::Not(HasSubstr("written")));
  EXPECT_THAT(result.stderr_stream.bytes, testing::StartsWith("complaint\n"));
  std::string own = bytes_of("/proc/sys/kernel/random/boot_id");
  EXPECT_FALSE(own.empty());
  EXPECT_THAT(result.stdout_stream.bytes, testing::Not(HasSubstr(own)));
  EXPECT_EQ(mechanism_of(result, Guarantee::kKernelSeparate), "emulated processor");
  EXPECT_EQ(mechanism_of(result, Guarantee::kExecPinned), "");
  EXPECT_EQ(mechanism_of(result, Guarantee::kFsReadonlySystem), "mounts+landlock");
  EXPECT_FALSE(std::filesystem::exists(repo_ / "mark"));
  EXPECT_FALSE(qemu_runs_with("microvm")) << "the machine outlived its run";
}

TEST_F(Microvm, ReportsTheSignalThatKilledTheTool_C20) {
  const Outcome killed = run(slow({"die_by_signal", "11"})).outcome;
  ASSERT_TRUE(std::holds_alternative<Completed>(killed));
  EXPECT_EQ(std::get<Signal>(std::get<Completed>(killed).fate).number, SIGSEGV);
}

TEST_F(Microvm, CountsAnOutOfMemoryByTheGuestsKernel_C20) {
  JailedSubprocessSpec what = slow({"eat_memory", "268435456"});
  what.limits.memory = mebibytes(64);
  const JailedSubprocessResult result = run(what);
  const auto* oom = std::get_if<OomKilled>(&result.outcome);
  ASSERT_NE(oom, nullptr);
  EXPECT_GE(oom->oom_kills, 1U);
  EXPECT_EQ(mechanism_of(result, Guarantee::kLimitMemory), "cgroup of the guest");
}

TEST_F(Microvm, EndsARunThatFillsItsScratch_C20) {
  JailedSubprocessSpec what = slow({"fill_scratch"});
  what.limits.disk = mebibytes(4);
  const Outcome outcome = run(what).outcome;
  const auto* full = std::get_if<DiskQuotaExceeded>(&outcome);
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->quota_bytes, std::uint64_t{4} << 20U);
}

TEST_F(Microvm, NamesTheHostThatWasDenied_C24) {
  JailedSubprocessSpec what = slow({"git", "ls-remote", "https://denied.test/x"});
  what.allowed_hosts = {*parse_host_rule("allowed.test")};
  const JailedSubprocessResult result = run(what);
  const auto* denied = std::get_if<NetworkDenied>(&result.outcome);
  ASSERT_NE(denied, nullptr) << result.stderr_stream.bytes;
  EXPECT_EQ(denied->host, "denied.test");
  EXPECT_TRUE(result.receipt.has(Guarantee::kNetEgressAllowlist));
}

TEST_F(Microvm, IsOverWhenTheCallerStops_C10) {
  std::stop_source source;
  JailedSubprocessSpec what = slow({"sh", "-c", "echo started; sleep 1000 & sleep 1000"});
  what.tap = [&source](Stream, std::string_view) { source.request_stop(); };
  const Result<JailedSubprocessResult> result = gate_->run(what, kMicrovmTcgJail, source.get_token());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(std::holds_alternative<Cancelled>(result->outcome));
  EXPECT_EQ(result->stdout_stream.bytes, "started\n");
  EXPECT_FALSE(qemu_runs_with("microvm"));
}

TEST_F(Microvm, IsOverAtTheDeadlineAlsoWhileItBoots_C9) {
  JailedSubprocessSpec what = slow({"sleep_forever"});
  what.limits.wall = 2s;
  EXPECT_TRUE(std::holds_alternative<TimedOut>(run(what).outcome));
  EXPECT_FALSE(qemu_runs_with("microvm"));
}

TEST_F(Microvm, KeepsTheEndOfALargeOutput_C13) {
  JailedSubprocessSpec what = slow({"sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo end"});
  what.limits.output = ByteCount{100'000};
  const JailedSubprocessResult result = run(what);
  EXPECT_EQ(exit_code(result), 0);
  EXPECT_EQ(result.stdout_stream.bytes.size(), 100'000U);
  EXPECT_TRUE(result.stdout_stream.bytes.ends_with("xend\n"));
}

TEST_F(Microvm, WritesWhereItMay_C37) {
  JailedSubprocessSpec what = slow({"sh", "-c", "echo new > made && mkdir -p a/b && mv made a/b/ && ln -s b a/link"});
  what.repo_access = RepoAccess::kWritable;
  const JailedSubprocessResult result = run(what);
  EXPECT_EQ(exit_code(result), 0) << result.stderr_stream.bytes;
  EXPECT_EQ(bytes_of(repo_ / "a/link/made"), "new\n");
}

TEST_F(Microvm, RunsWhatPeopleRun) {
  const JailedSubprocessResult result = run(
      slow({"sh", "-c", "git --version && rg --version && node -e 'console.log(6*7)' && npm --version && echo all"}));
  EXPECT_EQ(exit_code(result), 0) << result.stderr_stream.bytes;
  EXPECT_THAT(result.stdout_stream.bytes, HasSubstr("\n42\n"));
  EXPECT_THAT(result.stdout_stream.bytes, testing::EndsWith("all\n"));
}

TEST_F(Microvm, WithoutAKernelIsUnavailableAndSaysWhatToInstall) {
  const Result<JailedSubprocessResult> result = try_run(slow({"exit_with", "0"}), JailKind("broken"));
  ASSERT_FALSE(result);
  const Result<JailedSubprocessResult> admitted = try_run(slow({"sleep_forever"}), JailKind("broken"));
  ASSERT_FALSE(admitted);
  EXPECT_NE(admitted.error().as<JailUnavailable>(), nullptr) << admitted.error().message;
  EXPECT_THAT(admitted.error().hint, HasSubstr("linux-image"));
}

class BadGuest : public Microvm {};

TEST_F(BadGuest, ThatPanicsIsUnavailableWithItsPanic) {
  const Error error = with_init("bad_init_panics", 10min);
  EXPECT_NE(error.as<JailUnavailable>(), nullptr) << error.message;
  EXPECT_THAT(error.message, HasSubstr("panic"));
  EXPECT_FALSE(qemu_runs_with("microvm"));
}

TEST_F(BadGuest, ThatFillsItsConsoleIsUnavailableAndBounded) {
  const Error error = with_init("bad_init_shouts", 10min);
  EXPECT_NE(error.as<JailUnavailable>(), nullptr) << error.message;
  EXPECT_FALSE(qemu_runs_with("microvm"));
}

TEST_F(BadGuest, ThatHangsIsUnavailableInTime) {
  const Error error = with_init("bad_init_hangs", 5s);
  EXPECT_NE(error.as<JailUnavailable>(), nullptr) << error.message;
  EXPECT_THAT(error.message, HasSubstr("in time"));
  EXPECT_FALSE(qemu_runs_with("microvm"));
}

}  // namespace
}  // namespace sallyport::test
