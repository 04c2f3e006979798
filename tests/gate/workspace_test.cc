// A repo that runs can write without it being touched (C37).
#include <sys/stat.h>

#include "gate/workspace_fixture.h"
#include "support/jails.h"

namespace sallyport::test {
namespace {

using namespace std::chrono_literals;
using enum ChangeKind;

TEST_P(WorkspaceTest, C37_runs_see_each_others_writes_and_the_repo_stays_as_it_is) {
  const std::unique_ptr<Workspace> work = open();
  const JailedSubprocessResult first =
      change(*work, {"put:edited=after\n", "put:new=new\n", "delete:gone", "mkdir:made", "put:made/in=x"});
  ASSERT_EQ(exit_code(first), 0);
  const JailedSubprocessResult second = change(*work, {"show:edited", "show:new", "show:made/in", "show:kept"});
  EXPECT_EQ(exit_code(second), 0) << second.stderr_stream.bytes;
  EXPECT_EQ(second.stdout_stream.bytes, "after\nnew\nxkept\n");
  EXPECT_EQ(exit_code(change(*work, {"show:gone"})), 1) << "a deletion stays deleted";
  EXPECT_EQ(everything_in(repo_), before_);
  const std::string mechanism = mechanism_of(first, Guarantee::kFsRepoUntouched);
  EXPECT_TRUE(GetParam() == JailKind::kNative ? mechanism == "overlayfs" : mechanism.starts_with("private copy"))
      << mechanism;
  // The control: the same deeds do reach a repo that is writable.
  JailedSubprocessSpec direct = spec({"change_tree", "put:edited=after\n"});
  direct.repo_access = RepoAccess::kWritable;
  EXPECT_EQ(exit_code(run(*gate_, direct, GetParam())), 0);
  EXPECT_EQ(read_file(repo_ / "edited"), "after\n");
}

TEST_P(WorkspaceTest, C37_every_change_is_listed_deletions_first) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n", "put:new=new\n", "delete:gone", "mode:kept=0600",
                                     "delete:dir/one", "delete:dir/inner/two", "rmdir:dir/inner", "rmdir:dir",
                                     "put:dir=a file now\n", "link:out=/etc/passwd", "fifo:pipe"})),
            0);
  const Result<WorkspaceDiff> diff = work->diff();
  ASSERT_TRUE(diff.has_value()) << diff.error().message;
  const std::map<std::string, ChangeKind> expected = {
      {"edited", kChanged}, {"new", kCreated},     {"gone", kDeleted},      {"kept", kMetadata},
      {"dir", kReplaced},   {"dir/one", kDeleted}, {"dir/inner", kDeleted}, {"dir/inner/two", kDeleted},
      {"out", kCreated},    {"pipe", kCreated}};
  EXPECT_EQ(kinds(*diff), expected);
  EXPECT_TRUE(std::ranges::is_partitioned(diff->changes, [](const Change& one) { return one.kind == kDeleted; }));
  EXPECT_TRUE(flagged(*diff, "out", "symlink-out"));
  EXPECT_TRUE(flagged(*diff, "pipe", "special-file"));
  // Not for a copy: there, this run deletes more bytes than it writes.
  if (GetParam() == JailKind::kNative) {
    EXPECT_GT(diff->bytes_used, 0U);
  }
}

TEST_P(WorkspaceTest, a_directory_that_was_made_anew_hides_what_was_in_it) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"delete:dir/one", "delete:dir/inner/two", "rmdir:dir/inner", "rmdir:dir",
                                     "mkdir:dir", "put:dir/fresh=x"})),
            0);
  const Result<WorkspaceDiff> diff = work->diff();
  ASSERT_TRUE(diff.has_value()) << diff.error().message;
  const std::map<std::string, ChangeKind> expected = {
      {"dir/one", kDeleted}, {"dir/inner", kDeleted}, {"dir/inner/two", kDeleted}, {"dir/fresh", kCreated}};
  EXPECT_EQ(kinds(*diff), expected);
  const Result<std::vector<std::string>> names = work->list_directory("dir");
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names, std::vector<std::string>{"fresh"});
}

TEST_P(WorkspaceTest, what_is_written_and_the_same_again_is_no_change) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=other", "put:edited=before\n", "put:new=x", "delete:new"})), 0);
  const Result<WorkspaceDiff> diff = work->diff();
  ASSERT_TRUE(diff.has_value());
  EXPECT_TRUE(diff->changes.empty()) << diff->changes.front().path;
}

TEST_P(WorkspaceTest, C27_the_merged_view_is_read_from_outside_without_following_a_symlink) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:edited=after\n", "delete:gone", "link:leads=/etc/passwd", "link:there=dir"})),
            0);
  EXPECT_EQ(work->read_file("edited", mebibytes(1)).value_or("?"), "after\n");
  EXPECT_EQ(work->read_file("dir/one", mebibytes(1)).value_or("?"), "one\n");
  EXPECT_FALSE(work->read_file("edited", ByteCount{2}).has_value()) << "more than the cap";
  EXPECT_EQ(work->type_of("gone").value_or(FileType::kDevice), FileType::kNone);
  EXPECT_EQ(work->type_of("leads").value_or(FileType::kDevice), FileType::kSymlink);
  for (const char* path : {"leads", "there/one", "../outside", "/etc/passwd"}) {
    EXPECT_FALSE(work->read_file(path, mebibytes(1)).has_value()) << path;
  }
}

TEST_P(WorkspaceTest, the_quota_ends_a_run_that_writes_more) {
  const std::unique_ptr<Workspace> work = open({}, mebibytes(16));
  EXPECT_EQ(exit_code(change(*work, {"put:small=x"})), 0) << "positive control";
  const JailedSubprocessResult result = change(*work, {"fill:large"});
  ASSERT_TRUE(std::holds_alternative<DiskQuotaExceeded>(result.outcome)) << outcome_name(result.outcome);
  EXPECT_EQ(std::get<DiskQuotaExceeded>(result.outcome).quota_bytes, count(mebibytes(16)));
  EXPECT_GT(std::get<DiskQuotaExceeded>(result.outcome).bytes_used, count(mebibytes(16)));
  EXPECT_EQ(everything_in(repo_), before_);
}

TEST_P(WorkspaceTest, the_quota_counts_what_lies_in_a_directory_without_permissions) {
  const std::unique_ptr<Workspace> work = open({}, mebibytes(16));
  const JailedSubprocessResult result = change(*work, {"fill_hidden:shut"});
  EXPECT_TRUE(std::holds_alternative<DiskQuotaExceeded>(result.outcome)) << outcome_name(result.outcome);
}

TEST_P(WorkspaceTest, the_quota_counts_a_file_that_is_deleted_and_still_open) {
  const std::unique_ptr<Workspace> work = open({}, mebibytes(16));
  const JailedSubprocessResult result = change(*work, {"fill_deleted:f"});
  EXPECT_TRUE(std::holds_alternative<DiskQuotaExceeded>(result.outcome)) << outcome_name(result.outcome);
}

TEST_P(WorkspaceTest, a_tree_of_any_depth_is_listed) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"deep:here=3000"})), 0);
  const Result<WorkspaceDiff> diff = work->diff();
  ASSERT_TRUE(diff.has_value()) << diff.error().message;
  EXPECT_EQ(diff->changes.size(), 3001U);
  EXPECT_TRUE(work->discard().has_value()) << "and removed";
}

TEST_P(WorkspaceTest, hooks_may_be_written_in_it_and_are_reported) {
  std::filesystem::remove_all(repo_);
  std::filesystem::create_directory(repo_);
  make_git_repo(repo_);
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"put:.git/hooks/pre-commit=x", "put:.git/config=[core]\n\tfsmonitor = ./evil\n",
                                     "put:.vscode=x", "put:package.json={\"scripts\":{\"postinstall\":\"x\"}}"})),
            0);
  const Result<WorkspaceDiff> diff = work->diff();
  ASSERT_TRUE(diff.has_value()) << diff.error().message;
  EXPECT_TRUE(flagged(*diff, ".git/hooks/pre-commit", "git-hook"));
  EXPECT_TRUE(flagged(*diff, ".git/config", "git-config"));
  EXPECT_TRUE(flagged(*diff, "package.json", "npm-script"));
}

// The repo's configuration as an earlier run left it, not as the host has it, is what git would obey.
TEST_P(WorkspaceTest, git_in_the_same_workspace_is_hardened_against_what_an_earlier_run_wrote) {
  std::filesystem::remove_all(repo_);
  std::filesystem::create_directory(repo_);
  make_git_repo(repo_);
  const std::unique_ptr<Workspace> work = open();
  const std::string config = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./canary\n[alias]\n\tst = status\n";
  ASSERT_EQ(exit_code(change(*work, {"put:.git/config=" + config, "put:canary=#!/bin/sh\nexec echo heard > heard\n",
                                     "mode:canary=0755"})),
            0);
  JailedSubprocessSpec what = spec({"git", "status", "--short"});
  what.workspace = work.get();
  const JailedSubprocessResult result = run(*gate_, what, GetParam());
  EXPECT_EQ(exit_code(result), 0) << result.stderr_stream.bytes;
  EXPECT_NE(result.stdout_stream.bytes.find("canary"), std::string::npos) << "git sees the workspace";
  EXPECT_EQ(work->type_of("heard").value_or(FileType::kDevice), FileType::kNone) << "the monitor did not run";
}

TEST_P(WorkspaceTest, a_working_directory_can_be_one_that_an_earlier_run_made) {
  const std::unique_ptr<Workspace> work = open();
  ASSERT_EQ(exit_code(change(*work, {"mkdir:made", "link:there=made"})), 0);
  JailedSubprocessSpec what = spec({"print_cwd"});
  what.workspace = work.get();
  what.cwd = repo_ / "made";
  EXPECT_NE(run(*gate_, what, GetParam()).stdout_stream.bytes.find("/repo/made"), std::string::npos);
  what.cwd = repo_ / "there";
  EXPECT_FALSE(gate_->run(what, GetParam(), {}).has_value()) << "not through a symlink of a run's";
}

TEST_P(WorkspaceTest, what_a_workspace_must_not_be_combined_with_is_refused) {
  const std::unique_ptr<Workspace> work = open();
  const auto refused = [&](const JailedSubprocessSpec& what) { return !gate_->run(what, GetParam(), {}).has_value(); };
  JailedSubprocessSpec plain = spec({"exit_with", "0"});
  plain.workspace = work.get();
  EXPECT_FALSE(refused(plain)) << "positive control";
  JailedSubprocessSpec what = plain;
  what.repo_access = RepoAccess::kWritable;
  EXPECT_TRUE(refused(what));
  for (const std::filesystem::path& path : {repo_ / "dir", dir_.path(), dir_ / "state"}) {
    what = plain;
    what.extra_read_write = {path};
    EXPECT_TRUE(refused(what)) << path;
  }
  what = plain;
  what.extra_read_only = {repo_ / "dir"};
  EXPECT_TRUE(refused(what));
  what = plain;
  std::filesystem::create_directory(dir_ / "other");
  what.repo = what.cwd = dir_ / "other";
  EXPECT_TRUE(refused(what)) << "a workspace of another repo";
  EXPECT_FALSE(gate_->run(plain, JailKind::kNone, {}).has_value())
      << "without a jail nothing stands in the repo's place";
}

TEST_P(WorkspaceTest, a_second_directory_can_have_a_private_layer_of_its_own) {
  std::filesystem::create_directory(dir_ / "cache");
  write_file(dir_ / "cache/held", "held\n");
  const std::unique_ptr<Workspace> work = open();
  const Result<std::unique_ptr<Workspace>> cache =
      Workspace::open({.repo = dir_ / "cache", .state_dir = dir_ / "state"});
  ASSERT_TRUE(cache.has_value()) << cache.error().message;
  const std::string place = (dir_ / "cache").native();
  JailedSubprocessSpec what =
      spec({"change_tree", "show:" + place + "/held", "put:" + place + "/added=added\n", "put:new=x"});
  what.workspace = work.get();
  what.overlays = {cache->get()};
  const JailedSubprocessResult result = run(*gate_, what, GetParam());
  EXPECT_EQ(exit_code(result), 0) << result.stderr_stream.bytes;
  EXPECT_EQ(result.stdout_stream.bytes, "held\n");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "cache/added"));
  EXPECT_EQ((*cache)->read_file("added", mebibytes(1)).value_or("?"), "added\n");
  EXPECT_EQ(work->read_file("new", mebibytes(1)).value_or("?"), "x");
}

TEST_P(WorkspaceTest, what_a_writable_repo_was_left_with_is_reported_by_the_same_table) {
  JailedSubprocessSpec what = spec({"change_tree", "put:.envrc=x", "put:plain=x"});
  what.repo_access = RepoAccess::kWritable;
  const JailedSubprocessResult result = run(*gate_, what, GetParam());
  ASSERT_EQ(result.persistence.size(), 1U);
  EXPECT_EQ(result.persistence.front().path, ".envrc");
  EXPECT_EQ(result.persistence.front().rule, "direnv");
  EXPECT_FALSE(events_.named("subproc.persistence.found").empty());
  EXPECT_TRUE(run(*gate_, spec({"exit_with", "0"}), GetParam()).persistence.empty()) << "a read-only repo has none";
}

INSTANTIATE_TEST_SUITE_P(Jails, WorkspaceTest, testing::ValuesIn(jails_with_a_root()), jail_name);

}  // namespace
}  // namespace sallyport::test
