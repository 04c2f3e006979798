// What goes back from a workspace, and how workspaces are kept (C37, C27).
#include <sys/stat.h>
#include <time.h>

#include "gate/workspace_fixture.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

class CommitTest : public WorkspaceTest {
 protected:
  // Longer than the tick of the clock that file systems stamp with.
  static void let_the_clock_tick() {
    const timespec tick{.tv_sec = 0, .tv_nsec = 20'000'000};
    ::nanosleep(&tick, nullptr);
  }

  [[nodiscard]] static CommitReport committed(Workspace& work, const CommitRequest& request) {
    const Result<CommitReport> report = work.commit(request);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    return report ? *report : CommitReport{};
  }
  [[nodiscard]] static CommitAction action_of(const CommitReport& report, std::string_view path) {
    const auto found = std::ranges::find(report.steps, path, &CommitStep::path);
    EXPECT_NE(found, report.steps.end()) << path;
    return found == report.steps.end() ? CommitAction::kRefused : found->action;
  }
};

TEST_P(CommitTest, C37_chosen_paths_go_back_and_nothing_else) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(
      exit_code(change(*work, {"put:edited=after\n", "put:new=new\n", "delete:gone", "mkdir:made", "put:made/in=x"})),
      0);
  const CommitReport report = committed(*work, {.patterns = {"edited", "made/**"}});
  EXPECT_TRUE(report.written);
  EXPECT_EQ(read_file(repo_ / "edited"), "after\n");
  EXPECT_EQ(read_file(repo_ / "made/in"), "x");
  EXPECT_FALSE(std::filesystem::exists(repo_ / "new"));
  EXPECT_TRUE(std::filesystem::exists(repo_ / "gone"));
  const Result<WorkspaceDiff> left = work->diff();
  ASSERT_TRUE(left.has_value());
  const std::map<std::string, ChangeKind> expected = {{"gone", ChangeKind::kDeleted}, {"new", ChangeKind::kCreated}};
  EXPECT_EQ(kinds(*left), expected);
}

TEST_P(CommitTest, everything_goes_back_with_all_and_a_later_change_too) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n", "delete:gone", "delete:dir/one", "delete:dir/inner/two",
                                     "rmdir:dir/inner", "rmdir:dir", "link:near=kept", "mode:kept=0600"})),
            0);
  EXPECT_TRUE(committed(*work, {.all = true}).written);
  EXPECT_FALSE(std::filesystem::exists(repo_ / "dir"));
  EXPECT_FALSE(std::filesystem::exists(repo_ / "gone"));
  EXPECT_EQ(std::filesystem::read_symlink(repo_ / "near"), "kept");
  EXPECT_EQ(std::filesystem::status(repo_ / "kept").permissions(), std::filesystem::perms(0600));
  ASSERT_EQ(exit_code(change(*work, {"put:edited=once more\n"})), 0);
  EXPECT_TRUE(committed(*work, {.patterns = {"edited"}}).written) << "what we wrote ourselves is no conflict";
  EXPECT_EQ(read_file(repo_ / "edited"), "once more\n");
}

TEST_P(CommitTest, a_dry_run_writes_nothing) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n"})), 0);
  const CommitReport report = committed(*work, {.all = true, .mode = CommitMode::kDryRun});
  EXPECT_EQ(action_of(report, "edited"), CommitAction::kWritten);
  EXPECT_FALSE(report.written);
  EXPECT_EQ(everything_in(repo_), before_);
}

TEST_P(CommitTest, with_a_conflict_nothing_is_written) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n", "put:new=new\n", "delete:gone", "put:kept=mine\n"})), 0);
  let_the_clock_tick();
  write_file(repo_ / "edited", "a person's\n");
  write_file(repo_ / "new", "a person's\n");
  std::filesystem::remove(repo_ / "kept");
  const auto host = everything_in(repo_);
  const CommitReport report = committed(*work, {.all = true});
  EXPECT_FALSE(report.written);
  EXPECT_EQ(action_of(report, "edited"), CommitAction::kConflict);
  EXPECT_EQ(action_of(report, "new"), CommitAction::kConflict);
  EXPECT_EQ(action_of(report, "kept"), CommitAction::kConflict) << "deleted on the host since";
  EXPECT_EQ(action_of(report, "gone"), CommitAction::kDeleted);
  EXPECT_EQ(everything_in(repo_), host);
  EXPECT_TRUE(committed(*work, {.patterns = {"gone"}}).written) << "other paths can still be committed";
}

TEST_P(CommitTest, what_would_run_later_is_left_out_unless_asked_for) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:.envrc=x", "mkdir:.husky", "put:.husky/pre-commit=x", "put:plain=x"})), 0);
  const CommitReport report = committed(*work, {.all = true});
  EXPECT_EQ(action_of(report, ".envrc"), CommitAction::kLeftFlagged);
  EXPECT_EQ(action_of(report, ".husky/pre-commit"), CommitAction::kLeftFlagged);
  EXPECT_TRUE(std::filesystem::exists(repo_ / "plain")) << "positive control";
  EXPECT_FALSE(std::filesystem::exists(repo_ / ".envrc"));
  EXPECT_TRUE(committed(*work, {.all = true, .flagged = Flagged::kCommitted}).written);
  EXPECT_TRUE(std::filesystem::exists(repo_ / ".envrc"));
}

TEST_P(CommitTest, C41_special_files_are_never_committed) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"fifo:pipe", "put:plain=x"})), 0);
  const CommitReport report = committed(*work, {.all = true, .flagged = Flagged::kCommitted});
  EXPECT_EQ(action_of(report, "pipe"), CommitAction::kRefused);
  EXPECT_TRUE(std::filesystem::exists(repo_ / "plain"));
  EXPECT_FALSE(std::filesystem::exists(repo_ / "pipe"));
}

TEST_P(CommitTest, C27_nothing_is_written_through_a_symlink_that_stands_on_the_way) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:dir/one=mine\n"})), 0);
  std::filesystem::create_directory(dir_ / "outside");
  write_file(dir_ / "outside/one", "outside\n");
  std::filesystem::remove_all(repo_ / "dir");
  std::filesystem::create_directory_symlink(dir_ / "outside", repo_ / "dir");
  const CommitReport report = committed(*work, {.patterns = {"dir/one"}});
  EXPECT_EQ(action_of(report, "dir/one"), CommitAction::kConflict);
  EXPECT_EQ(read_file(dir_ / "outside/one"), "outside\n");
}

TEST_P(CommitTest, a_pattern_that_matches_nothing_is_an_error) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n"})), 0);
  EXPECT_FALSE(work->commit({.patterns = {"edited", "edietd"}}).has_value());
  EXPECT_FALSE(work->commit({}).has_value());
  EXPECT_EQ(everything_in(repo_), before_);
}

TEST_P(CommitTest, a_patch_says_what_changed) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n"})), 0);
  const Result<WorkspaceDiff> diff = work->diff();
  ASSERT_TRUE(diff.has_value());
  ASSERT_EQ(diff->changes.size(), 1U);
  EXPECT_EQ(work->patch(diff->changes.front()).value_or("?"),
            "diff --git a/edited b/edited\n--- a/edited\n+++ b/edited\n@@ -1 +1 @@\n-before\n+after\n");
}

TEST_P(CommitTest, a_named_workspace_is_found_again_and_belongs_to_one_owner_at_a_time) {
  {
    const std::unique_ptr<Workspace> work = open("kept-one");
    ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n"})), 0);
    EXPECT_FALSE(Workspace::open({.repo = repo_, .state_dir = dir_ / "state", .name = "kept-one"}).has_value());
    EXPECT_FALSE(Workspace::discard(dir_ / "state", "kept-one").has_value());
    const auto listed = Workspace::list(dir_ / "state");
    ASSERT_TRUE(listed.has_value());
    EXPECT_TRUE(listed->front().in_use);
  }
  std::filesystem::create_directory(dir_ / "other");
  EXPECT_FALSE(Workspace::open({.repo = dir_ / "other", .state_dir = dir_ / "state", .name = "kept-one"}).has_value());
  {
    const std::unique_ptr<Workspace> again = open("kept-one");
    EXPECT_EQ(again->read_file("edited", mebibytes(1)).value_or("?"), "after\n");
  }
  EXPECT_TRUE(Workspace::discard(dir_ / "state", "kept-one").has_value());
  const auto listed = Workspace::list(dir_ / "state");
  ASSERT_TRUE(listed.has_value());
  EXPECT_TRUE(listed->empty());
}

TEST_P(CommitTest, an_anonymous_workspace_leaves_nothing) {
  {
    const std::unique_ptr<Workspace> work = open();
    ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n", "mkdir:shut", "mode:shut=0000"})), 0);
    EXPECT_FALSE(std::filesystem::is_empty(dir_ / "state"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "state"));
}

TEST_P(CommitTest, one_that_a_run_uses_is_not_discarded) {
  const std::unique_ptr<Workspace> work = open("used");
  JailedSubprocessSpec what = spec({"print_args", "x"});
  what.workspace = work.get();
  bool asked = false;
  what.tap = [&](Stream, std::string_view) {
    asked = true;
    EXPECT_FALSE(work->discard());
  };
  EXPECT_EQ(exit_code(run(*gate_, what, GetParam())), 0);
  EXPECT_TRUE(asked);
  EXPECT_TRUE(work->diff());
  EXPECT_TRUE(work->discard());  // control
}

TEST_P(CommitTest, names_and_state_directories_that_are_not_safe_are_refused) {
  for (const char* name : {"../x", ".hidden", "a/b", "a b", "-x", "a\n"}) {
    EXPECT_FALSE(Workspace::open({.repo = repo_, .state_dir = dir_ / "state", .name = name}).has_value()) << name;
  }
  EXPECT_FALSE(Workspace::open({.repo = repo_, .state_dir = repo_ / "state"}).has_value()) << "inside the repo";
  std::filesystem::create_directory(dir_ / "loose");
  ::chmod((dir_ / "loose").c_str(), 0777);
  EXPECT_FALSE(Workspace::open({.repo = repo_, .state_dir = dir_ / "loose"}).has_value()) << "others can write it";
  EXPECT_FALSE(Workspace::open({.repo = repo_, .state_dir = {}}).has_value());
}

INSTANTIATE_TEST_SUITE_P(Jails, CommitTest, testing::ValuesIn(jails_with_a_root()), jail_name);

}  // namespace
}  // namespace sallyport::test
