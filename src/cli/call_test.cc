// Where a call takes place, found on a real file system.
#include "cli/call.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "cli/repo_root.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

class NoEvents : public EventSink {
 public:
  void emit(const Event&) override {}
};

class CallPlace : public testing::Test {
 protected:
  CallPlace() {
    std::string name = (fs::temp_directory_path() / "sallyport-call-XXXXXX").string();
    root_ = fs::canonical(mkdtemp(name.data()));
    fs::create_directories(root_ / "home/src/repo/.git");
    fs::create_directories(root_ / "home/src/repo/a/b");
    fs::create_directories(root_ / "home/plain/dir");
  }
  ~CallPlace() override { fs::remove_all(root_); }

  Result<Call> call(CallOptions options, const fs::path& here) {
    if (options.argv.empty()) options.argv = {"git"};
    return make_call(options, {.home = (root_ / "home").string(), .current_directory = here}, events_);
  }

  void write_policy(const fs::path& file) {
    std::ofstream(file)
        << "schema = \"sallyport.policy/1\"\n[[tool]]\nname = \"git\"\ndecision_record = \"D\"\nreason = \"r\"\n"
           "install_hint = \"i\"\n";
  }

  fs::path root_;
  NoEvents events_;
};

TEST_F(CallPlace, TheNearestGitAboveIsTheRepo) {
  const fs::path repo = root_ / "home/src/repo";
  EXPECT_EQ(find_repo_root(repo / "a/b", root_ / "home"), repo);
  EXPECT_EQ(find_repo_root(repo, root_ / "home"), repo);
  const Result<Call> made = call({}, repo / "a/b");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->config.repo, repo);
  EXPECT_EQ(made->spec.repo, repo);
  EXPECT_EQ(made->spec.cwd, repo / "a/b");
}

TEST_F(CallPlace, AGitInTheHomeDirectoryOrAboveIsNotTaken) {
  fs::create_directories(root_ / "home/.git");
  fs::create_directories(root_ / ".git");
  EXPECT_EQ(find_repo_root(root_ / "home/plain/dir", root_ / "home"), root_ / "home/plain/dir");
  EXPECT_EQ(find_repo_root(root_ / "home", root_ / "home"), root_ / "home");
  EXPECT_EQ(find_repo_root("/", ""), "/");
  // Control: without that home the same .git is taken.
  EXPECT_EQ(find_repo_root(root_ / "home/plain/dir", ""), root_ / "home");
}

TEST_F(CallPlace, ARepoNamedFromElsewhereIsAlsoTheCwd) {
  const fs::path repo = root_ / "home/src/repo";
  EXPECT_EQ(call({.repo = repo}, root_)->spec.cwd, repo);
  EXPECT_EQ(call({.repo = repo}, repo / "a")->spec.cwd, repo / "a");
  EXPECT_EQ(call({.repo = "src/repo"}, root_ / "home")->spec.cwd, repo);
  EXPECT_EQ(call({.repo = repo, .cwd = "a"}, repo)->spec.cwd, repo / "a");
}

TEST_F(CallPlace, AMissingOrLostDirectoryIsATypedError_C8) {
  EXPECT_NE(call({.repo = "/nonexistent"}, root_).error().as<InvalidRequest>(), nullptr);
  EXPECT_NE(call({.cwd = "/nonexistent"}, root_).error().as<InvalidRequest>(), nullptr);
  EXPECT_NE(call({}, "").error().as<InvalidRequest>(), nullptr);
}

TEST_F(CallPlace, APolicyInsideTheRepoIsRefusedAlsoThroughASymlink_C3) {
  const fs::path repo = root_ / "home/src/repo";
  write_policy(repo / "policy.toml");
  write_policy(root_ / "policy.toml");
  fs::create_symlink(repo / "policy.toml", root_ / "looks-outside.toml");
  fs::create_directory_symlink(repo, root_ / "linked-dir");
  for (const fs::path& policy :
       {repo / "policy.toml", root_ / "looks-outside.toml", root_ / "linked-dir/policy.toml"}) {
    const Result<Call> made = call({.policy = policy}, repo);
    ASSERT_FALSE(made) << policy;
    EXPECT_NE(made.error().as<PolicyError>(), nullptr) << made.error().message;
    EXPECT_FALSE(made.error().hint.empty());
  }
  // Control: the same text outside is taken.
  const Result<Call> made = call({.policy = root_ / "policy.toml"}, repo);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->config.allowlist.entries().size(), 1u);
}

TEST_F(CallPlace, APolicyThatIsNoRegularFileIsRefused_C3) {
  for (const fs::path& policy : {fs::path("/dev/zero"), root_, root_ / "missing.toml"}) {
    const Result<Call> made = call({.policy = policy}, root_ / "home/plain");
    ASSERT_FALSE(made) << policy;
    EXPECT_NE(made.error().as<PolicyError>(), nullptr) << made.error().message;
  }
}

TEST_F(CallPlace, AToolOfNoSetIsRefusedBeforeAnyFileIsLookedAt_C2) {
  const Result<Call> made = call({.repo = "/nonexistent", .argv = {"bash"}}, root_);
  EXPECT_NE(made.error().as<DisallowedSubprocessError>(), nullptr);
}

// The call is made before the gate is opened, and that may start a process.
TEST_F(CallPlace, AToolThatThePolicyDoesNotAdmitIsRefusedBeforeThereIsAProcess_C2) {
  const fs::path policy = root_ / "policy.toml";
  write_policy(policy);
  EXPECT_TRUE(call({.policy = policy, .argv = {"git"}}, root_ / "home/plain"));
  const Result<Call> refused = call({.policy = policy, .argv = {"rg"}}, root_ / "home/plain");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().as<DisallowedSubprocessError>(), nullptr) << refused.error().message;
}

}  // namespace
}  // namespace sallyport::cli
