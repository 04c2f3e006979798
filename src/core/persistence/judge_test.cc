#include "core/persistence/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/persistence/table.h"

namespace sallyport::persistence {
namespace {

using enum PersistenceSeverity;

Change file(std::string path, std::uint32_t mode = 0644) {
  return {.path = std::move(path), .kind = ChangeKind::kCreated, .after = FileType::kFile, .mode_after = mode};
}

Change link(std::string path, std::string text) {
  return {.path = std::move(path),
          .kind = ChangeKind::kCreated,
          .after = FileType::kSymlink,
          .link_after = std::move(text)};
}

struct Contents {
  std::string before{};
  std::string after{};
};

std::vector<PersistenceFinding> found(const Change& change, const Contents& contents = {},
                                      GitPointers pointers = GitPointers::kReported) {
  const ReadSide read = [&](const Change&, Side side) {
    return std::optional(side == Side::kBefore ? contents.before : contents.after);
  };
  return judge(std::span(&change, 1), read, pointers);
}

bool has(const std::vector<PersistenceFinding>& findings, std::string_view rule, PersistenceSeverity severity) {
  return std::ranges::any_of(findings, [&](const PersistenceFinding& finding) {
    return finding.rule == rule && finding.severity == severity;
  });
}

// A path that the row means, at the root or deeper.
std::string sample(const Row& row, const std::string& above) {
  switch (row.where) {
    case Where::kName:
      return above + std::string(row.text);
    case Where::kBelow:
      return above + std::string(row.text) + "/thing";
    case Where::kEnding:
      return above + "thing" + std::string(row.text);
    case Where::kStart:
      return above + std::string(row.text) + "thing";
  }
  return {};
}

bool is_inside_git(const Row& row) {
  return row.text == "commondir" || row.text == "gitdir" || row.text == "alternates" || row.text == "attributes" ||
         row.text == "git-rebase-todo";
}

TEST(Persistence, EveryRowOfTheTableFindsItsPathAtAnyDepthAndInAnyCase) {
  for (const Row& row : rows()) {
    for (std::string above : {"", "packages/one/"}) {
      if (is_inside_git(row)) above += ".git/";
      std::string path = sample(row, above);
      EXPECT_TRUE(has(found(file(path)), row.rule, row.severity)) << path;
      std::ranges::transform(path, path.begin(), [](unsigned char c) { return std::toupper(c); });
      EXPECT_TRUE(has(found(file(path)), row.rule, row.severity)) << path;
    }
    EXPECT_TRUE(found(file(std::string("x") + sample(row, "") + "x.txt")).empty()) << row.text;
  }
}

TEST(Persistence, AnOrdinaryFileIsNone) {
  for (const char* path : {"src/main.c", "README.md", "docs/hooks/intro.md", "test/commondir", "gitdir", "a.git/hooks",
                           ".git/info/exclude"}) {
    EXPECT_TRUE(found(file(path)).empty()) << path;
  }
}

TEST(Persistence, WhatIsDeletedDoesNotRun) {
  const Change gone{.path = ".envrc", .kind = ChangeKind::kDeleted, .before = FileType::kFile};
  EXPECT_TRUE(found(gone).empty());
  EXPECT_FALSE(found(file(".envrc")).empty());
  const auto deleted = [](const char* path) {
    return found({.path = path, .kind = ChangeKind::kDeleted, .before = FileType::kFile});
  };
  EXPECT_TRUE(has(deleted("a/.npmrc"), "package-manager", kHigh));  // it may have set ignore-scripts
  EXPECT_TRUE(has(deleted("package-lock.json"), "lockfile", kLow));
  EXPECT_TRUE(has(deleted("yarn.lock"), "lockfile", kLow));
  EXPECT_TRUE(deleted("node_modules/a/.npmrc").empty());
}

TEST(Persistence, ASampleHookIsNone) {
  EXPECT_TRUE(found(file(".git/hooks/pre-commit.sample")).empty());
  EXPECT_TRUE(has(found(file(".git/modules/sub/hooks/pre-commit")), "git-hook", kHigh));
}

TEST(Persistence, GitConfigurationIsFoundByWhatItSays) {
  const Contents harmless{.after = "[core]\n\tbare = false\n"};
  const Contents harmful{.after = "[core]\n\tfsmonitor = ./evil\n"};
  EXPECT_TRUE(found(file(".git/config"), harmless).empty());
  EXPECT_TRUE(has(found(file(".git/config"), harmful), "git-config", kHigh));
  EXPECT_TRUE(has(found(file("sub/.git/config.worktree"), harmful), "git-config", kHigh));
  EXPECT_TRUE(found(file("config"), harmless).empty());
  EXPECT_TRUE(found(file("aws/config"), {.after = "[default]\nregion = x\n"}).empty());
  // The configuration of an embedded git directory that was there before, and a file that an include names.
  EXPECT_TRUE(has(found(file("fixtures/bare.git/config"), harmful), "git-config", kHigh));
  EXPECT_TRUE(has(found(file("tools/.gitconfig"), harmful), "git-config", kHigh));
  EXPECT_TRUE(has(found(file(".git/config"), {.after = "[extensions]\n\trefStorage = files:///elsewhere\n"}),
                  "git-config", kHigh));
  EXPECT_TRUE(found(file(".git/config"), {.after = "[extensions]\n\trefStorage = reftable\n"}).empty());
}

TEST(Persistence, AGitFileAndAnEmbeddedRepositoryAreFound) {
  EXPECT_TRUE(has(found(file("sub/.git"), {.after = "gitdir: ../evil\n"}), "git-pointer", kHigh));
  EXPECT_TRUE(has(found(file("sub/HEAD"), {.after = "ref: refs/heads/x\n"}), "git-embedded", kHigh));
  EXPECT_TRUE(has(found(file("sub/HEAD"), {.after = "ref:\trefs/heads/x\n"}), "git-embedded", kHigh));
  EXPECT_TRUE(has(found(file("sub/HEAD"), {.after = std::string(40, 'a') + "\n"}), "git-embedded", kHigh));
  EXPECT_TRUE(has(found(link("sub/HEAD", "refs/heads/x")), "git-embedded", kHigh));
  EXPECT_TRUE(found(file("sub/HEAD"), {.after = "a chapter\n"}).empty());
  EXPECT_TRUE(has(found(file("node_modules/a/.git/hooks/pre-commit")), "git-hook", kHigh));
  EXPECT_TRUE(has(found(file("node_modules/a/.git")), "git-pointer", kHigh));
}

// Of pointers, and of nothing else: what a file is beside that stays found.
TEST(Persistence, PointersThatTheGatesReviewFollowsAreLeftToIt) {
  const auto left = [](const Change& change) { return found(change, {}, GitPointers::kReviewed); };
  for (const char* path : {"sub/.git", ".git/commondir", ".git/worktrees/x/gitdir"}) {
    EXPECT_TRUE(has(found(file(path)), "git-pointer", kHigh)) << path;  // the control
    EXPECT_TRUE(left(file(path)).empty()) << path;
  }
  for (const char* path : {"sub/.GIT", ".git/CommonDir", ".git/objects/info/alternates", ".git/sequencer/gitdir",
                           ".git/info/attributes"}) {
    EXPECT_TRUE(has(left(file(path)), "git-pointer", kHigh)) << path;
  }
  EXPECT_TRUE(has(left(file(".git/hooks/gitdir")), "git-hook", kHigh));
  EXPECT_TRUE(has(left(link("sub/.git", "/elsewhere")), "symlink-out", kHigh));
}

TEST(Persistence, ANameIsFoundAsOtherFileSystemsReadIt) {
  for (const char* path : {".g\u200cit/hooks/pre-commit", ".git./hooks/x", ".git /hooks/x", "GIT~1/hooks/x",
                           ".git::$INDEX_ALLOCATION/hooks/x", ".git\\hooks\\x"}) {
    EXPECT_TRUE(has(found(file(path)), "git-hook", kHigh)) << path;
  }
  EXPECT_TRUE(has(found(file(".hus\u212ay/pre-push")), "hook-manager", kHigh));
  EXPECT_TRUE(has(found(file("AGENT\u017f.md")), "agent", kHigh));
  EXPECT_TRUE(found(file("\xff\xfe.txt ")).size() == 1U);  // a deceptive name, and nothing else
}

// A symlink can stand in for a directory that a row names, and lead to a place that no row names.
TEST(Persistence, ASymlinkInThePlaceOfADirectoryIsFound) {
  EXPECT_TRUE(has(found(link(".husky", "docs/x")), "hook-manager", kHigh));
  EXPECT_TRUE(has(found(link("a/.vscode", "../conf")), "editor", kHigh));
  EXPECT_TRUE(has(found(link(".github", "gh")), "ci", kMedium));
  EXPECT_TRUE(has(found(link(".git/hooks", "../tools")), "git-hook", kHigh));
  EXPECT_TRUE(found(link("github", "gh")).empty());
  EXPECT_TRUE(found(link(".gith", "gh")).empty());
}

TEST(Persistence, AHookIsFoundByItsNameWhereverHooksPathLeads) {
  for (const char* path : {"tools/dev/pre-commit", "bare.git/hooks/update", "x/post-checkout"}) {
    EXPECT_TRUE(has(found(file(path)), "git-hook", kHigh)) << path;
  }
  EXPECT_TRUE(found(file("docs/update")).empty());
}

TEST(Persistence, AConfigurationByAnyNameThatToolsLookForIsFound) {
  for (const char* path : {".eslintrc", ".prettierrc.toml", "x/.foorc.mjs", "tsconfig.base.json", ".env.production",
                           "Dockerfile.dev", "docker-compose.override.yml", ".aider.model.settings.yml"}) {
    EXPECT_FALSE(found(file(path)).empty()) << path;
  }
  for (const char* path : {"src.js", "arc.ts", ".rc", "compose.js", "requirements.md"}) {
    EXPECT_TRUE(found(file(path)).empty()) << path;
  }
}

TEST(Persistence, AMemberOfAPackageThatNobodyKnowsIsFound) {
  const auto added = [](const char* text) { return found(file("package.json"), {.after = text}); };
  EXPECT_TRUE(has(added(R"({"simple-git-hooks":{"pre-commit":"x"}})"), "hook-manager", kHigh));
  EXPECT_TRUE(has(added(R"({"jest":{"globalSetup":"./x.js"}})"), "npm-bin", kLow));
  EXPECT_TRUE(has(added(R"({"packageManager":"pnpm@1"})"), "npm-bin", kLow));
  EXPECT_TRUE(has(added(R"({"scripts":{"dependencies":"x"}})"), "npm-script", kHigh));
  EXPECT_TRUE(has(added(R"({"scripts":{},"scripts":{"prepare":"x"}})"), "npm-script", kHigh));
  EXPECT_TRUE(added(R"({"name":"n","license":"MIT"})").empty());
}

TEST(Persistence, OfAPackageOnlyNewScriptsAreFound) {
  const Change change{.path = "package.json",
                      .kind = ChangeKind::kChanged,
                      .before = FileType::kFile,
                      .after = FileType::kFile,
                      .mode_after = 0644};
  const Contents same{.before = R"({"scripts":{"test":"x"}})", .after = R"({"name":"n","scripts":{"test":"x"}})"};
  EXPECT_TRUE(found(change, same).empty());
  const Contents more{.before = same.before, .after = R"({"scripts":{"test":"x","lint":"y"},"bin":"b.js"})"};
  EXPECT_TRUE(has(found(change, more), "npm-script", kMedium));
  EXPECT_TRUE(has(found(change, more), "npm-bin", kLow));
  EXPECT_TRUE(
      has(found(change, {.before = same.before, .after = R"({"scripts":{"postinstall":"y"}})"}), "npm-script", kHigh));
  EXPECT_TRUE(has(found(change, {.before = same.before, .after = "not json"}), "npm-script", kMedium));
  EXPECT_TRUE(has(found(change, {.before = "{}", .after = R"({"dependencies":{"a":"git+ssh://x/y"}})"}),
                  "npm-dependency", kMedium));
}

TEST(Persistence, ALockFileIsFoundByTheHostsItLeadsTo) {
  const Change change{.path = "package-lock.json",
                      .kind = ChangeKind::kChanged,
                      .before = FileType::kFile,
                      .after = FileType::kFile,
                      .mode_after = 0644};
  const Contents moved{.before = R"({"packages":{"a":{"resolved":"https://one.test/a.tgz"}}})",
                       .after = R"({"packages":{"a":{"resolved":"https://u@two.test:1/a.tgz"}}})"};
  const std::vector<PersistenceFinding> findings = found(change, moved);
  EXPECT_TRUE(has(findings, "lockfile-host", kMedium));
  EXPECT_NE(findings.front().reason.find("two.test:1"), std::string::npos);
  EXPECT_TRUE(has(found(change, {.before = moved.before, .after = moved.before + " "}), "lockfile", kLow));
}

TEST(Persistence, WhatAFileIsCountsToo) {
  EXPECT_TRUE(has(found(file("run", 0755)), "executable", kLow));
  EXPECT_TRUE(has(found(file("run", 04755)), "set-id", kHigh));
  EXPECT_TRUE(has(found(file("a\nb")), "deceptive-name", kMedium));
  EXPECT_TRUE(has(found(link("l", "/etc/passwd")), "symlink-out", kHigh));
  EXPECT_TRUE(has(found(link("a/l", "../../x")), "symlink-out", kHigh));
  EXPECT_TRUE(has(found(link("a/l", "b/../../../x")), "symlink-out", kHigh));
  EXPECT_TRUE(found(link("a/l", "../x")).empty());
  for (const FileType type : {FileType::kFifo, FileType::kSocket, FileType::kDevice}) {
    EXPECT_TRUE(has(found({.path = "s", .kind = ChangeKind::kCreated, .after = type}), "special-file", kHigh));
  }
}

TEST(Persistence, InstalledPackagesAreOneFindingAndWhatIsSpecialInThemAnother) {
  const std::vector<Change> changes = {file("node_modules/a/package.json"), file("node_modules/a/Makefile"),
                                       file("node_modules/.bin/a", 0755), file("node_modules/b/s", 06755)};
  const std::vector<PersistenceFinding> findings =
      judge(changes, [](const Change&, Side) { return std::optional<std::string>("{}"); });
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].path, "node_modules");
  EXPECT_EQ(findings[0].rule, "packages");
  EXPECT_EQ(findings[1].rule, "set-id");
}

}  // namespace
}  // namespace sallyport::persistence
