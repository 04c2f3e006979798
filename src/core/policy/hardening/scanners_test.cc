// The hardening of every tool but git, npm, docker and rg.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/policy/env_filter.h"
#include "core/policy/hardening.h"

namespace sallyport {
namespace {

using Args = std::vector<std::string>;
using Kind = FileRule::Kind;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Result<HardenedCommand> hardened(const Args& argv) {
  return harden(Allowlist::builtin(), *Allowlist::builtin().find(argv.front()), argv);
}

bool refused(const Args& argv) {
  const Result<HardenedCommand> command = hardened(argv);
  return !command && !command.error().hint.empty();
}

void expect_refused(const std::vector<Args>& commands) {
  for (const Args& argv : commands) EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
}

void expect_accepted(const std::vector<Args>& commands) {
  for (const Args& argv : commands) {
    const Result<HardenedCommand> command = hardened(argv);
    EXPECT_TRUE(command.has_value()) << testing::PrintToString(argv) << (command ? "" : command.error().message);
  }
}

std::vector<std::string> files(const Args& argv, Kind kind) {
  std::vector<std::string> paths;
  const Result<HardenedCommand> command = hardened(argv);
  if (!command) return {"refused"};
  for (const FileRule& rule : command->files) {
    if (rule.kind == kind) paths.push_back(rule.path);
  }
  return paths;
}

TEST(HardenAstGrep, ReadsNoConfigurationOfTheRepo) {
  EXPECT_THAT(hardened({"ast-grep", "run", "-p", "x"})->argv,
              ElementsAre("ast-grep", "run", "-c", "/dev/null", "-p", "x"));
  EXPECT_THAT(hardened({"ast-grep", "-p", "x"})->argv, ElementsAre("ast-grep", "run", "-c", "/dev/null", "-p", "x"));
  EXPECT_THAT(hardened({"ast-grep", "scan", "-c", "/etc/sg.yml"})->argv,
              ElementsAre("ast-grep", "scan", "-c", "/etc/sg.yml"));
  for (const Args& argv : std::vector<Args>{{"ast-grep", "scan", "-c", "sg.yml"},
                                            {"ast-grep", "scan", "-csg.yml"},
                                            {"ast-grep", "scan", "-c=sg.yml"},
                                            {"ast-grep", "scan", "--config", "sg.yml"},
                                            {"ast-grep", "scan", "--config=sg.yml"}}) {
    EXPECT_THAT(files(argv, Kind::kOutsideRepo), ElementsAre("sg.yml")) << testing::PrintToString(argv);
  }
  EXPECT_THAT(files({"ast-grep", "run", "-p", "x", "-U", "a.js"}, Kind::kRewritten), ElementsAre("a.js"));
  expect_refused({{"ast-grep", "run", "-p", "x", "--custom-languages", "allow"},
                  {"ast-grep", "run", "-p", "x", "--custom-languages=trust"},
                  {"ast-grep", "--custom-languages=allow", "-p", "x"},
                  {"ast-grep", "lsp"},
                  {"ast-grep", "new", "rule"},
                  {"ast-grep", "run", "-p", "x", "-U", "--follow"},
                  {"ast-grep", "run", "-Uc", "sg.yml"},
                  {"ast-grep", "run", "--unheard-of"}});
}

TEST(HardenScipTypescript, StartsNoPackageManagerAndNamesItsOutput) {
  EXPECT_THAT(files({"scip-typescript", "index"}, Kind::kOutput), ElementsAre("index.scip"));
  EXPECT_THAT(files({"scip-typescript", "index", "--cwd", "sub", "--output=o"}, Kind::kOutput), ElementsAre("sub/o"));
  EXPECT_THAT(files({"scip-typescript", "index", "--infer-tsconfig", "a"}, Kind::kOutput),
              ElementsAre("index.scip", "a/tsconfig.json"));
  EXPECT_FALSE(hardened({"scip-typescript", "index", "--infer-tsconfig"})->needs_jail.empty());
  EXPECT_TRUE(hardened({"scip-typescript", "index"})->needs_jail.empty());
  expect_refused({{"scip-typescript", "index", "--yarn-workspaces"},
                  {"scip-typescript", "index", "--yarn-berry-workspaces"},
                  {"scip-typescript", "index", "--pnpm-workspaces"},
                  {"scip-typescript", "--yarn-workspaces", "index"},
                  {"scip-typescript", "snapshot"}});
}

TEST(HardenSyftAndGrype, ScanOnlyPathsWithoutGoToolsAndOwnConfiguration) {
  const Result<HardenedCommand> syft = hardened({"syft", "dir:."});
  EXPECT_THAT(syft->env, Contains(EnvVar{"SYFT_GOLANG_USE_PACKAGES_LIB", "false"}));
  EXPECT_THAT(hardened({"grype", "."})->env, Contains(EnvVar{"GOTOOLCHAIN", "local"}));
  EXPECT_THAT(hardened({"grype", "."})->env, Contains(EnvVar{"GIT_CONFIG_KEY_0", "core.fsmonitor"}));
  EXPECT_THAT(files({"syft", "dir:."}, Kind::kAbsent), ElementsAre(".syft*"));
  EXPECT_THAT(files({"grype", "./sub"}, Kind::kAbsent), ElementsAre(".grype*"));
  EXPECT_THAT(files({"syft", "dir:.", "-c", "/etc/syft.yaml"}, Kind::kAbsent), ElementsAre());
  EXPECT_THAT(files({"syft", "dir:.", "-c", "my.yaml"}, Kind::kOutsideRepo), ElementsAre("my.yaml"));
  EXPECT_THAT(files({"syft", "scan", ".", "-o", "json=a.json,table", "--output=spdx=b"}, Kind::kOutput),
              ElementsAre("a.json", "b"));
  EXPECT_THAT(files({"grype", ".", "--file", "r", "-ojson"}, Kind::kOutput), ElementsAre("r"));
  EXPECT_EQ(hardened({"syft", ".", "--enrich", "all"})->needs_host, "--enrich all");
  expect_accepted({{"syft", "version"}, {"syft", "--version"}, {"grype", "sbom:./a.json"}, {"syft", "scan", "."}});
  expect_refused({{"syft", "alpine:latest"},
                  {"syft", "registry:alpine"},
                  {"syft", "docker:alpine"},
                  {"syft", "host.test/image"},
                  {"syft", "attest", "x"},
                  {"syft", "-q", "login"},
                  {"syft", "-vo", "attest"},
                  {"syft", ".", "--from", "docker"},
                  {"grype", "db", "update"},
                  {"grype", "sbom"},
                  {"syft", "sbom:./a.json"},
                  {"syft", ".", "-c", "/etc/a.yaml,b.yaml"},
                  {"syft", ".", "-o", "json=~/x"},
                  {"grype", ".", "--file", "~/.bashrc"},
                  {"syft", ".", "--out", "json"}});
}

TEST(HardenTreeSitter, IsClosedAndNeedsAJail) {
  EXPECT_FALSE(hardened({"tree-sitter", "parse", "a.c"})->needs_jail.empty());
  EXPECT_TRUE(hardened({"tree-sitter", "--version"})->needs_jail.empty());
  EXPECT_THAT(files({"tree-sitter", "parse", "--config-path", "c.json"}, Kind::kOutsideRepo), ElementsAre("c.json"));
  expect_refused({{"tree-sitter", "generate"},
                  {"tree-sitter", "build"},
                  {"tree-sitter", "test"},
                  {"tree-sitter", "playground"},
                  {"tree-sitter", "p", "a.c"},
                  {"tree-sitter", "parse", "-D", "a.c"},
                  {"tree-sitter", "parse", "--open-log", "a.c"}});
}

TEST(HardenNode, NeedsAJailForAllButItsVersion) {
  EXPECT_FALSE(hardened({"node", "a.js"})->needs_jail.empty());
  EXPECT_FALSE(hardened({"node"})->needs_jail.empty());
  EXPECT_FALSE(hardened({"node", "--version", "a.js"})->needs_jail.empty());
  EXPECT_TRUE(hardened({"node", "--version"})->needs_jail.empty());
}

TEST(HardenStrace, StartsOnlyToolsOfTheSetAndHardensThem) {
  const Result<HardenedCommand> command = hardened({"strace", "-f", "-o", "t", "rg", "x"});
  ASSERT_TRUE(command.has_value());
  EXPECT_FALSE(command->needs_jail.empty());
  EXPECT_THAT(command->argv, ElementsAre("strace", "-f", "-o", "t", "rg", "--no-config", "x"));
  EXPECT_THAT(files({"strace", "-ot", "rg", "x"}, Kind::kOutput), ElementsAre("t", "t.*"));
  EXPECT_TRUE(hardened({"strace", "--version"})->needs_jail.empty());
  expect_refused({{"strace", "-o", "|sh", "rg", "x"},
                  {"strace", "-o!sh", "rg", "x"},
                  {"strace", "--output=|sh", "rg", "x"},
                  {"strace", "--outp=|sh", "rg", "x"},
                  {"strace", "-fo", "|sh", "rg", "x"},
                  {"strace", "-p", "1"},
                  {"strace", "--att=1"},
                  {"strace", "-E", "LD_PRELOAD=x", "rg", "x"},
                  {"strace", "-ELD_PRELOAD=x", "rg", "x"},
                  {"strace", "-fD", "rg", "x"},
                  {"strace", "-u", "root", "rg", "x"},
                  {"strace", "sh", "-c", "x"},
                  {"strace", "/usr/bin/rg", "x"},
                  {"strace", "git", "status"},
                  {"strace", "npm", "ls"},
                  {"strace", "--", "sh"},
                  {"strace", "strace", "rg", "x"},
                  {"strace", "bwrap", "sh"},
                  {"strace", "rg", "--pre=sh", "x"}});
}

TEST(HardenGitleaks, ObeysNothingOfTheRepoAndHardensTheGitItStarts_C28) {
  const Result<HardenedCommand> command = hardened({"gitleaks", "detect"});
  ASSERT_TRUE(command.has_value());
  EXPECT_THAT(command->argv,
              ElementsAre("gitleaks", "detect", "--no-banner", "--ignore-gitleaks-allow",
                          "--gitleaks-ignore-path=/dev/null", "--max-archive-depth=0",
                          "--log-opts=--no-textconv --no-ext-diff --full-history --all --diff-filter=tuxdb"));
  EXPECT_THAT(command->env, Contains(EnvVar{"GITLEAKS_CONFIG_TOML", "[extend]\nuseDefault = true\n"}));
  EXPECT_THAT(command->env, Contains(EnvVar{"GIT_CONFIG_KEY_0", "core.fsmonitor"}));
  EXPECT_THAT(hardened({"gitleaks", "git", "--log-opts", "a..b --since=1w"})->argv.back(),
              "--log-opts=--no-textconv --no-ext-diff a..b --since=1w");
  EXPECT_THAT(hardened({"gitleaks", "dir", "src"})->argv.back(), "src") << "no git log, no options for it";
  EXPECT_THAT(files({"gitleaks", "dir", "src"}, Kind::kAbsent), ElementsAre("src/.gitleaksignore"));
  EXPECT_THAT(files({"gitleaks", "detect", "-s", "a"}, Kind::kAbsent), ElementsAre("a/.gitleaksignore"));
  EXPECT_THAT(files({"gitleaks", "dir", "-i", ".gitleaksignore"}, Kind::kAbsent), ElementsAre());
  EXPECT_THAT(files({"gitleaks", "dir", "-i", "/dev/null"}, Kind::kAbsent), ElementsAre("./.gitleaksignore"));
  EXPECT_THAT(files({"gitleaks", "dir", "-r", "r.json", "-c", "c.toml"}, Kind::kOutput), ElementsAre("r.json"));
  EXPECT_THAT(files({"gitleaks", "dir", "-r", "-"}, Kind::kOutput), ElementsAre());
  EXPECT_THAT(files({"gitleaks", "dir", "-c", "c.toml", "-b", "b.json"}, Kind::kOutsideRepo),
              ElementsAre("c.toml", "b.json"));
  EXPECT_FALSE(hardened({"gitleaks", "protect"})->needs_jail.empty());
  EXPECT_FALSE(hardened({"gitleaks", "git", "--staged"})->needs_jail.empty());
  expect_refused({{"gitleaks", "detect", "--no-banner=false"},
                  {"gitleaks", "detect", "--ignore-gitleaks-allow=false"},
                  {"gitleaks", "--no-banner", "detect"},
                  {"gitleaks", "git", "--log-opts=--output=x"},
                  {"gitleaks", "git", "--log-opts=a --ext-diff"},
                  {"gitleaks", "git", "--log-opts=--textconv"},
                  {"gitleaks", "git", "--log-opts=a", "--log-opts=-O/etc/x"},
                  {"gitleaks", "dir", "--diagnostics=http"},
                  {"gitleaks", "dir", "--", "x"},
                  {"gitleaks", "completion", "bash"}});
}

TEST(HardenSemgrep, SendsNothingAndFetchesNothingUnasked_C28) {
  EXPECT_THAT(hardened({"semgrep", "scan", "--json"})->argv,
              ElementsAre("semgrep", "scan", "--metrics=off", "--disable-version-check", "--json"));
  EXPECT_THAT(hardened({"semgrep", "--json", "src"})->argv,
              ElementsAre("semgrep", "--metrics=off", "--disable-version-check", "--json", "src"));
  EXPECT_THAT(hardened({"semgrep"})->env, Contains(EnvVar{"SEMGREP_SEND_METRICS", "off"}));
  EXPECT_THAT(files({"semgrep", "-o", "a", "--sarif-output=b"}, Kind::kOutput), ElementsAre("a", "b"));
  EXPECT_THAT(files({"semgrep", "--autofix", "a.py"}, Kind::kRewritten), ElementsAre("a.py"));
  for (const std::string config : {"auto", "p/ci", "r/x", "https://rules.test/x", "secrets"}) {
    EXPECT_EQ(hardened({"semgrep", "--config", config})->needs_host, config);
    EXPECT_EQ(hardened({"semgrep", "-f", config})->needs_host, config);
  }
  EXPECT_TRUE(hardened({"semgrep", "--config", "rules/x.yml"})->needs_host.empty());
  expect_accepted({{"semgrep", "--metrics", "off"}, {"semgrep", "--version"}});
  expect_refused({{"semgrep", "--metrics=on"},
                  {"semgrep", "--metrics", "auto"},
                  {"semgrep", "--metr=on"},
                  {"semgrep", "login"},
                  {"semgrep", "ci"},
                  {"semgrep", "validate", "x"},
                  {"semgrep", "--allow-local-builds"},
                  {"semgrep", "--allow-l"},
                  {"semgrep", "--dangerously-allow-arbitrary-code-execution-from-rules"},
                  {"semgrep", "--dang"},
                  {"semgrep", "--allow-untrusted-validators"},
                  {"semgrep", "-o", "https://collector.test/x"},
                  {"semgrep", "--remote", "x"}});
}

TEST(HardenNpm, SaysWhatItWritesAndNeedsAJailForScripts) {
  for (const std::string command : {"test", "t", "run", "start", "install-test", "cit"}) {
    EXPECT_FALSE(hardened({"npm", command})->needs_jail.empty()) << command;
  }
  for (const std::string command : {"install", "ci", "ls", "pack"}) {
    EXPECT_TRUE(hardened({"npm", command})->needs_jail.empty()) << command;
  }
  EXPECT_THAT(files({"npm", "install"}, Kind::kOutput),
              ElementsAre("package.json", "package-lock.json", "npm-shrinkwrap.json"));
  EXPECT_THAT(files({"npm", "cit"}, Kind::kOutput), Contains("package-lock.json"));
  EXPECT_THAT(files({"npm", "pack"}, Kind::kOutput), ElementsAre("*.tgz"));
  EXPECT_THAT(files({"npm", "ls"}, Kind::kOutput), ElementsAre());
}

TEST(HardenGit, SaysWhatFormatPatchWrites) {
  EXPECT_THAT(files({"git", "format-patch", "-1"}, Kind::kOutput), ElementsAre("./*.patch"));
  EXPECT_THAT(files({"git", "-C", "sub", "format-patch", "-1"}, Kind::kOutput), ElementsAre("./sub/*.patch"));
  EXPECT_THAT(files({"git", "format-patch", "-1", "--numbered-files"}, Kind::kOutput), ElementsAre("./*"));
  EXPECT_THAT(files({"git", "log"}, Kind::kOutput), ElementsAre());
}

TEST(HardenScanners, TheirVariablesCannotBeSetByACaller) {
  for (const std::string name : {"SYFT_CONFIG", "GRYPE_CONFIG", "GITLEAKS_CONFIG", "SEMGREP_RULES", "GOFLAGS", "CC",
                                 "CGO_CFLAGS", "TREE_SITTER_LIBDIR", "AST_GREP_X"}) {
    EXPECT_NE(why_env_forbidden(name), "") << name;
  }
  EXPECT_EQ(why_env_forbidden("GRYPE_DB_CACHE_DIR"), "");
}

TEST(HardeningFacts, EveryToolThatIsHardenedHasSomeAndNoneTwice) {
  for (const ToolEntry& entry : Allowlist::builtin().entries()) {
    std::set<std::pair<hardening::HardeningFact::Kind, std::string>> seen;
    for (const hardening::HardeningFact& fact : hardening_facts(entry)) {
      EXPECT_FALSE(fact.what.empty() || fact.why.empty()) << entry.name;
      EXPECT_TRUE(seen.insert({fact.kind, std::string(fact.what)}).second) << entry.name << ": " << fact.what;
    }
    const bool has_hardening = entry.role == Role::kTool;
    EXPECT_EQ(has_hardening, !seen.empty()) << entry.name;
  }
}

}  // namespace
}  // namespace sallyport
