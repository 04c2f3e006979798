// The two public calls: what they refuse, what the child gets, what comes back.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "gate/gate_fixture.h"
#include "gate/host_gate.h"
#include "sallyport/adapters.h"
#include "sallyport/external_cli.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

AllowlistedOptions in(const fs::path& cwd) { return {.cwd = cwd, .timeout = 60s}; }

TEST_F(GateTest, C2_every_refusal_is_typed_and_leaves_no_file_process_or_descriptor) {
  const std::unique_ptr<Gate> gate = open_gate();
  fs::create_directory_symlink("/usr", repo_ / "out");
  const LeakCount before = LeakCount::of_self(repo_);
  const auto refused = [&](std::vector<std::string> argv, AllowlistedOptions options) {
    Result<ProcessResult> result = run_allowlisted(*gate, std::move(argv), std::move(options));
    EXPECT_FALSE(result.has_value());
    if (result) return Error{InvalidRequest{"not refused"}, {}, {}};
    EXPECT_FALSE(result.error().message.empty());
    EXPECT_FALSE(result.error().hint.empty()) << result.error().message;
    return result.error();
  };
  for (const std::string name : {"", "/usr/bin/git", "./git", "rm", "gti"}) {
    EXPECT_NE(refused({name}, in(repo_)).as<DisallowedSubprocessError>(), nullptr) << name;
  }
  EXPECT_NE(refused({}, in(repo_)).as<DisallowedSubprocessError>(), nullptr);
  EXPECT_NE(refused({"not_installed"}, in(repo_)).as<ToolMissingError>(), nullptr);
  EXPECT_NE(refused({"exit_with", std::string("a\0b", 3)}, in(repo_)).as<InvalidRequest>(), nullptr);
  EXPECT_NE(refused({"exit_with", std::string(1 << 20, 'x')}, in(repo_)).as<InvalidRequest>(), nullptr);
  EXPECT_NE(refused({"exit_with", "0"}, in(repo_ / "out")).as<InvalidRequest>(), nullptr);
  EXPECT_NE(refused({"exit_with", "0"}, in(repo_ / "absent")).as<InvalidRequest>(), nullptr);
  for (const auto timeout : {0ms, -5ms, 1000000000ms}) {
    EXPECT_NE(refused({"exit_with", "0"}, {.cwd = repo_, .timeout = timeout}).as<InvalidRequest>(), nullptr);
  }
  for (const char* name : {"LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "GCONV_PATH", "DYLD_INSERT_LIBRARIES"}) {
    AllowlistedOptions options = in(repo_);
    options.env_extras = {{name, "x"}};
    EXPECT_NE(refused({"exit_with", "0"}, options).as<InvalidRequest>(), nullptr) << name;
  }
  EXPECT_EQ(before, LeakCount::of_self(repo_));
  // Positive control: the same call without the fault goes through.
  const Result<ProcessResult> good = run_allowlisted(*gate, {"exit_with", "0"}, in(repo_));
  EXPECT_TRUE(good.has_value());
}

TEST_F(GateTest, C4_a_wrapper_is_refused_as_a_tool) {
  GateConfig builtin = config();
  builtin.allowlist = Allowlist::builtin();
  const Result<std::unique_ptr<Gate>> gate = Gate::open(std::move(builtin));
  ASSERT_TRUE(gate.has_value());
  const Result<ProcessResult> result = run_allowlisted(**gate, {"bwrap", "--version"}, in(repo_));
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().as<DisallowedSubprocessError>(), nullptr);
}

TEST_F(GateTest, C8_a_gate_runs_tools_over_its_own_repo_and_no_other) {
  const std::unique_ptr<Gate> gate = open_gate();
  fs::create_directory(dir_ / "other");
  fs::create_directory_symlink(repo_, dir_ / "same");
  JailedSubprocessSpec what = spec({"print_cwd"});
  what.repo = what.cwd = dir_ / "other";
  const Result<JailedSubprocessResult> other = gate->run(what, JailKind::kNone, {});
  ASSERT_FALSE(other);
  ASSERT_NE(other.error().as<InvalidRequest>(), nullptr) << other.error().message;
  EXPECT_EQ(other.error().as<InvalidRequest>()->field, "repo");
  // Controls: the same repo by another name, and by none.
  for (const fs::path& same : {repo_, dir_ / "same", fs::path()}) {
    what.repo = same;
    what.cwd = repo_;
    EXPECT_EQ(run(*gate, what, JailKind::kNone).stdout_stream.bytes, fs::canonical(repo_).string() + "\n") << same;
  }
}

TEST_F(GateTest, C36_a_gate_whose_repo_is_missing_refuses_each_call) {
  GateConfig nowhere = config();
  nowhere.repo = dir_ / "absent";
  const std::unique_ptr<Gate> gate = Gate::open(nowhere).value();
  const Result<ProcessResult> refused = run_allowlisted(*gate, {"print_cwd"}, in(repo_));
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
  EXPECT_EQ(refused.error().as<InvalidRequest>()->field, "repo");
}

TEST_F(GateTest, C36_a_host_that_cannot_be_read_is_a_refused_call) {
  const std::unique_ptr<Gate> gate = open_gate();
  ExternalCliOptions options{.cwd = repo_, .timeout = 60s};
  options.allowed_egress = {"https://host.test/path"};
  const Result<ProcessResult> refused = run_external_cli(*gate, "p", {"print_cwd"}, options);
  ASSERT_FALSE(refused);
  ASSERT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
  EXPECT_EQ(refused.error().as<InvalidRequest>()->field, "host rule");
}

TEST_F(GateTest, C36_what_the_caller_lacks_is_asked_of_an_admitted_call_before_anything_of_it_is_made) {
  const std::unique_ptr<Gate> gate = open_gate();
  int asked = 0;
  JailedSubprocessSpec what = spec({"rm"});
  what.named_workspace = WorkspaceOptions{.state_dir = dir_ / "state", .name = "w"};
  what.before_start = [&asked]() -> Status {
    ++asked;
    return fail(Error{InvalidRequest{"receipt"}, "no place for it", "name one"});
  };
  const auto refused = gate->run(what, JailKind::kNone, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<DisallowedSubprocessError>(), nullptr) << refused.error().message;
  EXPECT_EQ(asked, 0);
  what.argv = {"leave_mark", (repo_ / "mark").string()};
  const auto unplaced = gate->run(what, JailKind::kNative, {});
  ASSERT_FALSE(unplaced);
  ASSERT_NE(unplaced.error().as<InvalidRequest>(), nullptr) << unplaced.error().message;
  EXPECT_EQ(unplaced.error().as<InvalidRequest>()->field, "receipt");
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(fs::exists(dir_ / "state"));
  // The control.
  what.before_start = {};
  EXPECT_EQ(exit_code(run(*gate, what, JailKind::kNative)), 0);
  EXPECT_FALSE(fs::exists(repo_ / "mark"));
  const auto kept = Workspace::open({.repo = repo_, .state_dir = dir_ / "state", .name = "w"});
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ((*kept)->type_of("mark").value(), FileType::kFile);
}

TEST_F(GateTest, C36_a_named_workspace_needs_its_name_and_is_the_only_one) {
  const std::unique_ptr<Gate> gate = open_gate();
  const std::unique_ptr<Workspace> open = Workspace::open({.repo = repo_, .state_dir = dir_ / "state"}).value();
  JailedSubprocessSpec what = spec({"exit_with", "0"});
  const auto field_of = [&](const WorkspaceOptions& named) {
    what.named_workspace = named;
    const auto refused = gate->run(what, JailKind::kNative, {});
    const auto* request = refused ? nullptr : refused.error().as<InvalidRequest>();
    return request == nullptr ? std::string("not refused") : request->field;
  };
  EXPECT_EQ(field_of({.state_dir = dir_ / "state"}), "workspace");
  EXPECT_EQ(field_of({.repo = repo_, .state_dir = dir_ / "state", .name = "w"}), "workspace");
  EXPECT_EQ(field_of({.state_dir = dir_ / "state", .name = "w"}), "not refused");  // the control
  what.workspace = open.get();
  EXPECT_EQ(field_of({.state_dir = dir_ / "state", .name = "w"}), "workspace");
}

TEST_F(GateTest, C6_stdin_is_empty_unless_bytes_or_a_descriptor_are_given) {
  const std::unique_ptr<Gate> gate = open_gate();
  EXPECT_EQ(run_allowlisted(*gate, {"print_stdin"}, in(repo_))->stdout_stream.bytes, "");
  AllowlistedOptions bytes = in(repo_);
  bytes.stdin_source = StdinBytes{std::string("one\0two", 7)};
  EXPECT_EQ(run_allowlisted(*gate, {"print_stdin"}, bytes)->stdout_stream.bytes, std::string("one\0two", 7));
  write_file(dir_ / "input", "from a file");
  const UniqueFd file(::open((dir_ / "input").c_str(), O_RDONLY | O_CLOEXEC));
  AllowlistedOptions descriptor = in(repo_);
  descriptor.stdin_source = StdinFd{file.get()};
  EXPECT_EQ(run_allowlisted(*gate, {"print_stdin"}, descriptor)->stdout_stream.bytes, "from a file");
}

TEST_P(EveryJailTest, C7_C34_the_child_gets_the_four_variables_and_the_extras_and_nothing_else) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"print_env"});
  what.env_extras = {{"MY_EXTRA", "yes"}};
  const std::string printed = run(*gate, what, GetParam()).stdout_stream.bytes;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < printed.size(); at = printed.find('\n', at) + 1) {
    names.push_back(printed.substr(at, printed.find('=', at) - at));
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"HOME", "MY_EXTRA", "PATH"}));
  EXPECT_EQ(printed.find("canary"), std::string::npos);
}

TEST_P(EveryJailTest, C7_the_child_gets_the_trusted_entries_of_the_callers_path_only) {
  fs::create_directories(repo_ / "node_modules/.bin");
  fs::create_directory(dir_ / "open");
  fs::permissions(dir_ / "open", fs::perms::all);
  fs::create_directory(dir_ / "mine");
  const std::string mine = (dir_ / "mine").string();
  GateConfig with_path = config();
  with_path.base_env.front().value =
      ".:" + (repo_ / "node_modules/.bin").string() + ":/usr/bin:" + (dir_ / "open").string() + "::" + mine + ":bin";
  const std::unique_ptr<Gate> gate = std::move(*Gate::open(with_path));
  EXPECT_NE(run(*gate, spec({"print_env"}), GetParam()).stdout_stream.bytes.find("PATH=/usr/bin:" + mine + "\n"),
            std::string::npos);
  with_path.base_env.front().value = "bin::";
  const std::unique_ptr<Gate> without = std::move(*Gate::open(with_path));
  EXPECT_EQ(run(*without, spec({"print_env"}), GetParam()).stdout_stream.bytes.find("PATH="), std::string::npos);
}

TEST_P(EveryJailTest, the_child_inherits_no_descriptor_but_its_three_streams) {
  const std::unique_ptr<Gate> gate = open_gate();
  write_file(dir_ / "secret", "x");
  const UniqueFd leaked(::open((dir_ / "secret").c_str(), O_RDONLY));  // NOLINT: without CLOEXEC on purpose
  const std::string printed = run(*gate, spec({"print_fds"}), GetParam()).stdout_stream.bytes;
  EXPECT_EQ(std::ranges::count(printed, '\n'), 3) << printed;
}

TEST_P(EveryJailTest, C8_C14_the_child_runs_in_its_cwd_and_sees_it_under_its_own_name) {
  const std::unique_ptr<Gate> gate = open_gate();
  fs::create_directory(repo_ / "sub");
  JailedSubprocessSpec what = spec({"print_cwd"});
  what.cwd = repo_ / "sub";
  EXPECT_EQ(run(*gate, what, GetParam()).stdout_stream.bytes, (repo_ / "sub").string() + "\n");
}

TEST_P(EveryJailTest, C11_C20_a_nonzero_exit_and_a_signal_are_results_with_the_exact_fate) {
  const std::unique_ptr<Gate> gate = open_gate();
  EXPECT_EQ(exit_code(run(*gate, spec({"exit_with", "7"}), GetParam())), 7);
  // The code a shell would give for SIGKILL, chosen by the tool itself, stays a code.
  EXPECT_EQ(exit_code(run(*gate, spec({"exit_with", "137"}), GetParam())), 137);
  const JailedSubprocessResult killed = run(*gate, spec({"die_by_signal", "9"}), GetParam());
  ASSERT_TRUE(std::holds_alternative<Completed>(killed.outcome));
  ASSERT_TRUE(std::holds_alternative<Signal>(std::get<Completed>(killed.outcome).fate));
  EXPECT_EQ(std::get<Signal>(std::get<Completed>(killed.outcome).fate).number, 9);
}

TEST_F(GateTest, C11_a_missing_tool_carries_its_install_hint_and_a_timeout_its_elapsed_time) {
  const std::unique_ptr<Gate> gate = open_gate();
  const Result<ProcessResult> missing = run_allowlisted(*gate, {"not_installed"}, in(repo_));
  ASSERT_FALSE(missing.has_value());
  ASSERT_NE(missing.error().as<ToolMissingError>(), nullptr);
  EXPECT_EQ(missing.error().as<ToolMissingError>()->install_hint, "build the tests");
  const Result<ProcessResult> late = run_allowlisted(*gate, {"sleep_forever"}, {.cwd = repo_, .timeout = 200ms});
  ASSERT_FALSE(late.has_value());
  ASSERT_NE(late.error().as<ProbeTimeoutError>(), nullptr);
  EXPECT_GE(late.error().as<ProbeTimeoutError>()->elapsed, 200ms);
}

TEST_F(GateTest, C26_a_required_guarantee_that_cannot_be_had_is_refused_by_name_before_the_start) {
  const std::unique_ptr<Gate> gate = open_gate();
  JailedSubprocessSpec what = spec({"leave_mark", (repo_ / "mark").string()});
  what.required = {Guarantee::kNetIsolated};
  const Result<JailedSubprocessResult> refused = gate->run(what, JailKind::kNone, {});
  ASSERT_FALSE(refused.has_value());
  ASSERT_NE(refused.error().as<GuaranteeUnavailable>(), nullptr);
  EXPECT_EQ(refused.error().as<GuaranteeUnavailable>()->guarantee, Guarantee::kNetIsolated);
  EXPECT_FALSE(fs::exists(repo_ / "mark"));
  what.required = {Guarantee::kLimitWall};
  EXPECT_EQ(exit_code(run(*gate, what, JailKind::kNone)), 0);
  EXPECT_TRUE(fs::exists(repo_ / "mark"));
}

TEST_F(GateTest, C19_a_caller_holds_the_port_and_any_adapter_serves_it) {
  const std::unique_ptr<Gate> gate = open_gate();
  NativeAdapter native(*gate);
  BwrapAdapter bwrap(*gate);
  AutoJail automatic(*gate);
  for (SubprocessJail* jail : {static_cast<SubprocessJail*>(&native), static_cast<SubprocessJail*>(&bwrap),
                               static_cast<SubprocessJail*>(&automatic)}) {
    const Result<JailedSubprocessResult> result = jail->run(spec({"exit_with", "4"}));
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(exit_code(*result), 4);
    EXPECT_TRUE(result->receipt.has(Guarantee::kProcPidIsolated));
  }
}

TEST_F(GateTest, explain_starts_nothing_and_shows_what_run_would_do) {
  GateConfig config = this->config();
  config.cache_dir = dir_ / "cache";
  const std::unique_ptr<Gate> gate = Gate::open(config).value();
  const LeakCount before = LeakCount::of_self(repo_);
  const JailedSubprocessSpec what = spec({"leave_mark", (repo_ / "mark").string()});
  for (const JailKind jail : {JailKind::kAuto, JailKind::kBwrap}) {
    const Result<Explanation> explained = gate->explain(what, jail);
    ASSERT_TRUE(explained.has_value());
    EXPECT_EQ(explained->jail.name(), jail == JailKind::kAuto ? "native" : "bwrap");
    EXPECT_FALSE(explained->rendered.empty());
    EXPECT_FALSE(fs::exists(repo_ / "mark"));
    EXPECT_FALSE(fs::exists(config.cache_dir)) << "explain remembered a hash";
    EXPECT_EQ(before, LeakCount::of_self(repo_));
  }
  EXPECT_EQ(exit_code(run(*gate, what, JailKind::kNone)), 0);
  EXPECT_TRUE(fs::exists(config.cache_dir)) << "positive control: a run does remember it";
}

INSTANTIATE_TEST_SUITE_P(gate, EveryJailTest, testing::ValuesIn(jails_without_rules()), jail_name);

}  // namespace
}  // namespace sallyport::test
