// Where a call takes place, found on a real file system.
#include "cli/call.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

fs::path root_of(const fs::path& cwd, const fs::path& home) {
  return find_repo_root(cwd, home, RepoOwners::current(std::nullopt)).path;
}

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

  Call call(CallOptions options, const fs::path& here) {
    if (options.argv.empty()) options.argv = {"git"};
    return make_call(options, {.home = (root_ / "home").string(), .current_directory = here}, events_);
  }

  // What the gate answers to the call; starts nothing.
  Result<Explanation> asked(CallOptions options, const fs::path& here) {
    if (options.argv.empty()) options.argv = {"git", "--version"};
    Call made = make_call(options, {.path = "/usr/bin:/bin", .current_directory = here}, events_);
    const std::unique_ptr<Gate> gate = TRY(Gate::open(std::move(made.config)));
    return gate->explain(made.spec, JailKind::kNone);
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
  EXPECT_EQ(root_of(repo / "a/b", root_ / "home"), repo);
  EXPECT_EQ(root_of(repo, root_ / "home"), repo);
  const Call made = call({}, repo / "a/b");
  EXPECT_EQ(made.config.repo, repo);
  EXPECT_EQ(made.spec.repo, repo);
  EXPECT_EQ(made.spec.cwd, repo / "a/b");
}

TEST_F(CallPlace, AGitInTheHomeDirectoryOrAboveIsNotTaken) {
  fs::create_directories(root_ / "home/.git");
  fs::create_directories(root_ / ".git");
  EXPECT_EQ(root_of(root_ / "home/plain/dir", root_ / "home"), root_ / "home/plain/dir");
  EXPECT_EQ(root_of(root_ / "home", root_ / "home"), root_ / "home");
  EXPECT_EQ(root_of("/", ""), "/");
  // Control: without that home the same .git is taken.
  EXPECT_EQ(root_of(root_ / "home/plain/dir", ""), root_ / "home");
}

// CVE-2022-24765: another user puts a .git into a shared parent, and would so control our repo.
TEST_F(CallPlace, AGitWhereOthersCanWriteIsNotTaken) {
  const fs::path shared = root_ / "shared";
  const fs::path mine = shared / "mine/deep";
  fs::create_directories(shared / ".git");
  fs::create_directories(mine);
  EXPECT_EQ(root_of(mine, ""), shared);  // control: a private parent counts
  for (const mode_t mode : {01777U, 0777U, 0757U}) {
    ASSERT_EQ(chmod(shared.c_str(), mode), 0);
    const RepoRoot found = find_repo_root(mine, "", RepoOwners::current(std::nullopt));
    EXPECT_EQ(found.path, mine);
    EXPECT_NE(found.ignored.find(shared.native()), std::string::npos) << found.ignored;
  }
  // A group of one's own is no other; any other group is.
  const RepoOwners owners = RepoOwners::current(std::nullopt);
  ASSERT_EQ(chmod(shared.c_str(), 0775), 0);
  EXPECT_EQ(root_of(mine, ""), owners.us.gid == owners.us.uid || owners.us.gid == 0 ? shared : mine);
  // If the cwd is such a place, it is the repo itself, and the search widens nothing.
  ASSERT_EQ(chmod(shared.c_str(), 01777), 0);
  EXPECT_EQ(find_repo_root(shared, "", owners).path, shared);
  EXPECT_EQ(find_repo_root(shared, "", owners).ignored, "");
}

TEST_F(CallPlace, AnotherUsersGitOrDirectoryIsNotTaken) {
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  constexpr uid_t kUs = 12345;
  constexpr uid_t kThem = 23456;
  const fs::path repo = root_ / "home/src/repo";
  const fs::path below = repo / "a/b";
  for (const fs::path& path : {repo, repo / ".git", repo / "a", below}) {
    ASSERT_EQ(chown(path.c_str(), kUs, kUs), 0);
  }
  const auto root_for = [&](uid_t uid, std::optional<uid_t> sudo = std::nullopt) {
    return find_repo_root(below, "", {.us = {.uid = uid, .gid = static_cast<gid_t>(uid)}, .sudo_uid = sudo});
  };
  EXPECT_EQ(root_for(kUs).path, repo);  // control
  EXPECT_EQ(root_for(kThem).path, below);
  EXPECT_EQ(root_for(0).path, below);      // root standing in a user's repo
  EXPECT_EQ(root_for(0, kUs).path, repo);  // who called sudo counts
  EXPECT_EQ(root_for(0, kThem).path, below);
  // Only the .git is another's: a directory, a file, a symlink, a symlink of ours to their directory.
  ASSERT_EQ(chown((repo / ".git").c_str(), kThem, kThem), 0);
  EXPECT_EQ(root_for(kUs).path, below);
  EXPECT_NE(root_for(kUs).ignored.find(std::to_string(kThem)), std::string::npos) << root_for(kUs).ignored;
  fs::rename(repo / ".git", repo / "theirs");
  fs::create_symlink("theirs", repo / ".git");
  ASSERT_EQ(lchown((repo / ".git").c_str(), kUs, kUs), 0);
  EXPECT_EQ(root_for(kUs).path, below);
  ASSERT_EQ(lchown((repo / ".git").c_str(), kThem, kThem), 0);
  ASSERT_EQ(chown((repo / "theirs").c_str(), kUs, kUs), 0);
  EXPECT_EQ(root_for(kUs).path, below);
  fs::remove(repo / ".git");
  std::ofstream(repo / ".git") << "gitdir: theirs\n";
  ASSERT_EQ(chown((repo / ".git").c_str(), kThem, kThem), 0);
  EXPECT_EQ(root_for(kUs).path, below);
  ASSERT_EQ(chown((repo / ".git").c_str(), kUs, kUs), 0);
  EXPECT_EQ(root_for(kUs).path, repo);  // control: our own file
}

TEST_F(CallPlace, OnlyRootHasSomebodyWhoCalledSudo) {
  const RepoOwners owners = RepoOwners::current("1234");
  EXPECT_EQ(owners.sudo_uid.has_value(), geteuid() == 0);
  EXPECT_FALSE(RepoOwners::current("12x4").sudo_uid);
  EXPECT_FALSE(RepoOwners::current("").sudo_uid);
}

TEST_F(CallPlace, ARepoNamedFromElsewhereIsAlsoTheCwd) {
  const fs::path repo = root_ / "home/src/repo";
  EXPECT_EQ(call({.repo = repo}, root_).spec.cwd, repo);
  EXPECT_EQ(call({.repo = repo}, repo / "a").spec.cwd, repo / "a");
  EXPECT_EQ(call({.repo = "src/repo"}, root_ / "home").spec.cwd, repo);
  EXPECT_EQ(call({.repo = repo, .cwd = "a"}, repo).spec.cwd, repo / "a");
}

TEST_F(CallPlace, AMissingOrLostDirectoryIsRefusedByTheGateWithItsName_C8_C36) {
  const auto field = [](const Result<Explanation>& answer) {
    const auto* const invalid = answer ? nullptr : answer.error().as<InvalidRequest>();
    return invalid != nullptr ? invalid->field : std::string("accepted");
  };
  EXPECT_EQ(field(asked({.repo = root_ / "absent"}, root_)), "repo");
  EXPECT_EQ(field(asked({.cwd = root_ / "absent"}, root_)), "cwd");
  EXPECT_EQ(field(asked({}, "")), "cwd");
  EXPECT_EQ(field(asked({.repo = root_}, "")), "cwd");
  EXPECT_EQ(field(asked({.repo = root_ / "home/src/repo"}, root_)), "accepted");  // control
}

TEST_F(CallPlace, APolicyInsideTheRepoIsRefusedByTheGateAlsoThroughASymlink_C3_C36) {
  const fs::path repo = root_ / "home/src/repo";
  write_policy(repo / "policy.toml");
  write_policy(root_ / "policy.toml");
  fs::create_symlink(repo / "policy.toml", root_ / "looks-outside.toml");
  fs::create_directory_symlink(repo, root_ / "linked-dir");
  for (const fs::path& policy :
       {repo / "policy.toml", root_ / "looks-outside.toml", root_ / "linked-dir/policy.toml"}) {
    const Result<Explanation> answer = asked({.policy = policy}, repo);
    ASSERT_FALSE(answer) << policy;
    EXPECT_NE(answer.error().as<PolicyError>(), nullptr) << answer.error().message;
    EXPECT_FALSE(answer.error().hint.empty());
  }
  // Control: the same text outside is taken, and is the whole set.
  const Result<Explanation> taken = asked({.policy = root_ / "policy.toml"}, repo);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->plan.tool.decision_record, "D");
  const Result<Explanation> other = asked({.policy = root_ / "policy.toml", .argv = {"jq"}}, repo);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().as<DisallowedSubprocessError>(), nullptr) << other.error().message;
}

TEST_F(CallPlace, APolicyThatIsNoRegularFileIsRefusedByTheGate_C3_C36) {
  for (const fs::path& policy : {fs::path("/dev/zero"), root_, root_ / "missing.toml"}) {
    const Result<Explanation> answer = asked({.policy = policy}, root_ / "home/plain");
    ASSERT_FALSE(answer) << policy;
    EXPECT_NE(answer.error().as<PolicyError>(), nullptr) << answer.error().message;
  }
}

// The gate decides what may run, where every refusal is typed and can be recorded.
TEST_F(CallPlace, JudgesNothingOfTheCall_C36) {
  const fs::path here = root_ / "home/plain";
  CallOptions odd{.argv = {}};
  odd.jail = JailKind("of_nobody");
  odd.timeout = std::chrono::milliseconds(0);
  odd.allow_registry = true;
  odd.probe = "Not A Probe";
  odd.allowed_egress = {"*"};
  odd.open_files = 0;
  odd.policy = here / "missing.toml";
  const Call made = make_call(odd, {.current_directory = here}, events_);
  EXPECT_TRUE(made.spec.argv.empty());
  EXPECT_EQ(made.spec.probe, "Not A Probe");
  EXPECT_EQ(made.config.policy, here / "missing.toml");
  EXPECT_TRUE(made.spec.allow_registry);
  EXPECT_EQ(made.spec.allowed_egress, (std::vector<std::string>{"*"}));
  EXPECT_EQ(made.spec.open_files, 0U);
  EXPECT_TRUE(made.spec.allowed_hosts.empty()) << "npm was asked before the call was admitted";
}

// The CLI passes the operator's proxy on as the environment's plain text. Only the gate parses it.
TEST_F(CallPlace, AProxyOfTheEnvironmentIsReadByTheGate_C36) {
  const auto explained = [&](std::optional<std::string> proxy) {
    Environment environment{.path = "/usr/bin:/bin", .current_directory = root_ / "home/src/repo"};
    environment.proxy = std::move(proxy);
    environment.no_proxy = "a.test";
    CallOptions options{.argv = {"git", "--version"}};
    options.proxy_of_environment = true;
    const Call made = make_call(options, environment, events_);
    return Gate::open(made.config).value()->explain(made.spec, JailKind::kNone);
  };
  const Result<Explanation> good = explained("http://proxy.test:3128");
  ASSERT_TRUE(good) << good.error().message;
  ASSERT_TRUE(good->plan.via_proxy);
  EXPECT_EQ(good->plan.via_proxy->host(), "proxy.test");
  EXPECT_EQ(good->plan.via_proxy->without(), std::vector<std::string>{"a.test"});
  for (const std::optional<std::string>& wrong :
       {std::optional<std::string>(), std::optional<std::string>("ftp://x")}) {
    const Result<Explanation> refused = explained(wrong);
    ASSERT_FALSE(refused);
    ASSERT_NE(refused.error().as<InvalidRequest>(), nullptr) << refused.error().message;
    EXPECT_EQ(refused.error().as<InvalidRequest>()->field, "via_proxy");
  }
}

}  // namespace
}  // namespace sallyport::cli
