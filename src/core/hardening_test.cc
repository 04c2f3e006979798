#include "core/hardening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/hardening/git_config.h"

namespace sallyport {
namespace {

using Args = std::vector<std::string>;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Result<HardenedCommand> hardened(const Args& argv) { return harden(*Allowlist::builtin().find(argv.front()), argv); }

bool refused(const Args& argv) {
  const Result<HardenedCommand> command = hardened(argv);
  if (command) return false;
  const auto* request = command.error().as<InvalidRequest>();
  return request != nullptr && request->field == "argv" && !command.error().hint.empty();
}

Args git_prefix() {
  Args prefix = {"git", "--no-pager"};
  for (const hardening::GitSetting& setting : hardening::git_settings()) {
    prefix.emplace_back("-c");
    prefix.push_back(std::string(setting.key) + "=" + std::string(setting.value));
  }
  return prefix;
}

// What follows the fixed beginning of a hardened git command.
Args git_rest(const Args& argv) {
  const Result<HardenedCommand> command = hardened(argv);
  if (!command) return {"REFUSED", command.error().message};
  const Args prefix = git_prefix();
  if (!std::ranges::equal(prefix, std::span(command->argv).first(std::min(prefix.size(), command->argv.size()))))
    return {};
  return {command->argv.begin() + static_cast<std::ptrdiff_t>(prefix.size()), command->argv.end()};
}

TEST(HardenGit, OutranksTheReposConfigurationRightAfterTheName_C28) {
  const Args prefix = git_prefix();
  for (const char* setting :
       {"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=:", "core.sshCommand=false",
        "core.askPass=", "credential.helper=", "protocol.ext.allow=never", "gpg.program=false",
        "log.showSignature=false", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false",
        "safe.bareRepository=explicit", "safe.directory=*"}) {
    EXPECT_THAT(prefix, Contains(setting));
  }
  EXPECT_THAT(git_rest({"git", "rev-parse", "HEAD"}), ElementsAre("rev-parse", "HEAD"));
  const std::vector<EnvVar> env = hardened({"git", "status"})->env;
  EXPECT_THAT(env, Contains(EnvVar{"GIT_CONFIG_NOSYSTEM", "1"}));
  EXPECT_THAT(env, Contains(EnvVar{"GIT_CONFIG_GLOBAL", "/dev/null"}));
  EXPECT_THAT(env, Contains(EnvVar{"GIT_TERMINAL_PROMPT", "0"}));
  EXPECT_THAT(env, Contains(EnvVar{"GIT_ALLOW_PROTOCOL", "https:http"}));
}

TEST(HardenGit, SwitchesDiffDriversOffWhereTheyWouldRun_C28) {
  EXPECT_THAT(git_rest({"git", "diff", "HEAD"}), ElementsAre("diff", "--no-ext-diff", "--no-textconv", "HEAD"));
  EXPECT_THAT(git_rest({"git", "log", "-p"}), ElementsAre("log", "--no-ext-diff", "--no-textconv", "-p"));
  EXPECT_THAT(git_rest({"git", "log"}), ElementsAre("log", "--no-ext-diff", "--no-textconv"));
  EXPECT_THAT(git_rest({"git", "blame", "f"}), ElementsAre("blame", "--no-textconv", "f"));
  EXPECT_THAT(git_rest({"git", "stash", "show"}), ElementsAre("stash", "show", "--no-ext-diff", "--no-textconv"));
  EXPECT_THAT(git_rest({"git", "stash"}), ElementsAre("stash"));
  EXPECT_THAT(git_rest({"git", "reflog", "show", "-p"}),
              ElementsAre("reflog", "show", "--no-ext-diff", "--no-textconv", "-p"));
  EXPECT_THAT(git_rest({"git", "-C", "sub", "show", "x"}),
              ElementsAre("-C", "sub", "show", "--no-ext-diff", "--no-textconv", "x"));
}

TEST(HardenGit, LetsOrdinaryCommandsThrough) {
  for (const Args& argv : std::vector<Args>{{"git"},
                                            {"git", "--version"},
                                            {"git", "status", "--porcelain"},
                                            {"git", "status", "-uno"},
                                            {"git", "log", "--oneline", "--text", "-n", "3"},
                                            {"git", "log", "--output-indicator-new=>"},
                                            {"git", "rev-list", "--filter=blob:none", "HEAD"},
                                            {"git", "grep", "-eOUT", "x"},
                                            {"git", "commit", "-m", "m"},
                                            {"git", "clone", "--depth=1", "https://h.example/r"},
                                            {"git", "--git-dir=.", "log"},
                                            {"git", "archive", "--format=tar", "HEAD"},
                                            {"git", "config", "--get", "user.name"},
                                            {"git", "submodule", "status"},
                                            {"git", "log", "HEAD", "--", "--output=x"}}) {
    EXPECT_TRUE(hardened(argv).has_value()) << testing::PrintToString(argv) << hardened(argv).error().message;
  }
}

TEST(HardenGit, RefusesWhatWouldUndoItOrStartAProgram_C28) {
  for (const Args& argv : std::vector<Args>{{"git", "-c", "core.fsmonitor=x", "status"},
                                            {"git", "--config-env=a=B", "status"},
                                            {"git", "--exec-path=/tmp", "status"},
                                            {"git", "-p", "log"},
                                            {"git", "--paginate", "log"},
                                            {"git", "-C", "/etc", "status"},
                                            {"git", "-C", "a/../../b", "status"},
                                            {"git", "-C"},
                                            {"git", "--git-dir=/x", "log"},
                                            {"git", "--git-dir", "..", "log"},
                                            {"git", "--work-tree=/", "status"},
                                            {"git", "foo"},
                                            {"git", "fetch", "--upload-pack=x", "origin"},
                                            {"git", "fetch", "--upload-pack", "x", "origin"},
                                            {"git", "ls-remote", "--upload-pa=x", "."},
                                            {"git", "ls-remote", "--exec=x", "."},
                                            {"git", "push", "--receive-pack=x"},
                                            {"git", "clone", "-u", "x", "y"},
                                            {"git", "clone", "-qux", "y"},
                                            {"git", "clone", "-c", "core.fsmonitor=x", "y"},
                                            {"git", "clone", "--conf=a=b", "y"},
                                            {"git", "clone", "--template=x", "y"},
                                            {"git", "diff", "--output=x"},
                                            {"git", "diff", "--outp", "x"},
                                            {"git", "diff", "--ext-diff"},
                                            {"git", "log", "--textconv"},
                                            {"git", "log", "--textc"},
                                            {"git", "log", "--help"},
                                            {"git", "cat-file", "--filters", "HEAD:f"},
                                            {"git", "status", "-v"},
                                            {"git", "status", "--verb"},
                                            {"git", "grep", "--open-files-in-pager=x", "y"},
                                            {"git", "grep", "-Ox", "y"},
                                            {"git", "grep", "-e", "--", "-Ox"},
                                            {"git", "rebase", "-x", "cmd"},
                                            {"git", "rebase", "--exec", "cmd"},
                                            {"git", "commit", "--trailer", "x: y"},
                                            {"git", "archive", "--format=evil", "HEAD"},
                                            {"git", "archive", "--format", "tgz", "HEAD"},
                                            {"git", "archive", "-o", "x.evil", "HEAD"},
                                            {"git", "config", "--global", "a.b", "c"},
                                            {"git", "config", "-f", "/x", "a.b", "c"},
                                            {"git", "submodule", "foreach", "x"},
                                            {"git", "submodule", "update"},
                                            {"git", "pull", "--recurse-submodules"},
                                            {"git", "diff", "--submodule=diff"},
                                            {"git", "bisect", "run", "x"},
                                            {"git", "filter-branch"},
                                            {"git", "difftool"},
                                            {"git", "help", "log"},
                                            {"git", "--no-pager"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenNpm, SwitchesScriptsOffTwice_C25) {
  const Result<HardenedCommand> command = hardened({"npm", "install", "--package-lock-only"});
  ASSERT_TRUE(command.has_value());
  EXPECT_THAT(command->argv, ElementsAre("npm", "--ignore-scripts", "install", "--package-lock-only"));
  EXPECT_THAT(command->env, Contains(EnvVar{"npm_config_ignore_scripts", "true"}));
  EXPECT_THAT(command->env, Contains(EnvVar{"npm_config_update_notifier", "false"}));
  for (const Args& argv : std::vector<Args>{{"npm", "--version"},
                                            {"npm", "test"},
                                            {"npm", "config", "get", "registry"},
                                            {"npm", "install", "--ignore-scripts"},
                                            {"npm", "install", "--no-audit", "-D", "left-pad"},
                                            {"npm", "run", "build", "--", "--prefix=x"}}) {
    EXPECT_TRUE(hardened(argv).has_value()) << testing::PrintToString(argv);
  }
}

TEST(HardenNpm, RefusesEverySpellingThatTurnsThemOn_C25) {
  for (const Args& argv : std::vector<Args>{{"npm", "install", "--ignore-scripts=false"},
                                            {"npm", "install", "--ignore-scripts", "false"},
                                            {"npm", "install", "--no-ignore-scripts"},
                                            {"npm", "install", "--No-ignore-scripts"},
                                            {"npm", "install", "--no-no-no-ignore-scripts"},
                                            {"npm", "install", "---no-ignore-scripts"},
                                            {"npm", "install", "-no-ignore-scripts"},
                                            {"npm", "install", "--ignore-scr=false"},
                                            {"npm", "install", "--no-ignore-s"},
                                            {"npm", "install", "--script-shell=/x"},
                                            {"npm", "install", "--script-sh", "/x"},
                                            {"npm", "install", "--node-options=-r x"},
                                            {"npm", "install", "--userconfig=x"},
                                            {"npm", "install", "--globalconfig=x"},
                                            {"npm", "install", "--prefix=/"},
                                            {"npm", "install", "-C", "/"},
                                            {"npm", "install", "-g", "x"},
                                            {"npm", "install", "--global"},
                                            {"npm", "install", "--git=/x"},
                                            {"npm", "exec", "x"},
                                            {"npm", "x", "y"},
                                            {"npm", "explore", "x"},
                                            {"npm", "config", "set", "ignore-scripts", "false"},
                                            {"npm", "false", "install"},
                                            {"npm", "publish"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenRipgrep, ReadsNoConfigurationAndStartsNothing_C28) {
  EXPECT_THAT(hardened({"rg", "-n", "x"})->argv, ElementsAre("rg", "--no-config", "-n", "x"));
  EXPECT_TRUE(hardened({"rg", "--pretty", "--pre-glob=*.z", "-ezz", "x"}).has_value());
  EXPECT_TRUE(hardened({"rg", "x", "--", "--pre=sh"}).has_value());
  for (const Args& argv : std::vector<Args>{{"rg", "--pre", "sh", "x"},
                                            {"rg", "--pre=sh", "x"},
                                            {"rg", "x", "--hostname-bin=sh"},
                                            {"rg", "-z", "x"},
                                            {"rg", "-iz", "x"},
                                            {"rg", "--search-zip", "x"},
                                            {"rg", "-e", "--", "--pre=sh"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenSemgrep, SendsNoMetrics_C28) {
  EXPECT_THAT(hardened({"semgrep", "scan", "--json"})->argv, ElementsAre("semgrep", "scan", "--metrics=off", "--json"));
  EXPECT_THAT(hardened({"semgrep", "--json", "src"})->argv, ElementsAre("semgrep", "--metrics=off", "--json", "src"));
  EXPECT_THAT(hardened({"semgrep"})->env, Contains(EnvVar{"SEMGREP_SEND_METRICS", "off"}));
  EXPECT_TRUE(hardened({"semgrep", "--metrics", "off"}).has_value());
  for (const Args& argv : std::vector<Args>{{"semgrep", "--metrics=on"},
                                            {"semgrep", "--metrics", "auto"},
                                            {"semgrep", "--metr=on"},
                                            {"semgrep", "login"},
                                            {"semgrep", "--allow-untrusted-validators"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenGitleaks, ShowsNoBannerAndHardensTheGitItStarts_C28) {
  const Result<HardenedCommand> command = hardened({"gitleaks", "detect"});
  EXPECT_THAT(command->argv, ElementsAre("gitleaks", "--no-banner", "detect"));
  EXPECT_THAT(command->env, Contains(EnvVar{"GIT_CONFIG_KEY_0", "core.fsmonitor"}));
  EXPECT_THAT(command->env, Contains(EnvVar{"GIT_CONFIG_VALUE_0", "false"}));
  EXPECT_TRUE(refused({"gitleaks", "detect", "--no-banner=false"}));
}

TEST(HardenDocker, ClosesEveryContainer_C28) {
  EXPECT_THAT(hardened({"docker", "run", "--rm", "alpine", "--privileged"})->argv,
              ElementsAre("docker", "run", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                          "--rm", "alpine", "--privileged"));
  EXPECT_THAT(hardened({"docker", "container", "create", "alpine"})->argv,
              ElementsAre("docker", "container", "create", "--network=none", "--cap-drop=ALL",
                          "--security-opt=no-new-privileges", "alpine"));
  EXPECT_THAT(hardened({"docker", "run", "--network", "none", "alpine"})->argv,
              ElementsAre("docker", "run", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network", "none",
                          "alpine"));
  EXPECT_THAT(hardened({"docker", "build", "."})->argv, ElementsAre("docker", "build", "--network=none", "."));
  EXPECT_THAT(hardened({"docker", "ps", "-a"})->argv, ElementsAre("docker", "ps", "-a"));
  EXPECT_TRUE(hardened({"docker", "run", "-it", "-v", ".:/src:ro", "-e", "A=b", "alpine"}).has_value());
}

TEST(HardenDocker, RefusesWhatGivesTheHostAway_C28) {
  for (const Args& argv : std::vector<Args>{{"docker", "run", "--privileged", "alpine"},
                                            {"docker", "run", "--privileged=true", "alpine"},
                                            {"docker", "run", "--cap-add=ALL", "alpine"},
                                            {"docker", "run", "--network=host", "alpine"},
                                            {"docker", "run", "--net", "bridge", "alpine"},
                                            {"docker", "run", "--security-opt", "seccomp=unconfined", "alpine"},
                                            {"docker", "run", "--pid=host", "alpine"},
                                            {"docker", "run", "--ipc=host", "alpine"},
                                            {"docker", "run", "--uts=host", "alpine"},
                                            {"docker", "run", "--userns=host", "alpine"},
                                            {"docker", "run", "-v", "/:/host", "alpine"},
                                            {"docker", "run", "-v/:/host:ro", "alpine"},
                                            {"docker", "run", "-v", "./link:/host:ro", "alpine"},
                                            {"docker", "run", "-v", ".:/src", "alpine"},
                                            {"docker", "run", "-v", "other_volume:/x:ro", "alpine"},
                                            {"docker", "run", "-v", "/var/run/docker.sock:/s", "alpine"},
                                            {"docker", "run", "-itv", "/:/host", "alpine"},
                                            {"docker", "run", "--mount", "type=bind,src=/,dst=/h", "alpine"},
                                            {"docker", "run", "--device=/dev/kmsg", "alpine"},
                                            {"docker", "run", "--volumes-from=x", "alpine"},
                                            {"docker", "-H", "unix:///x", "ps"},
                                            {"docker", "--context=x", "ps"},
                                            {"docker", "--config", "x", "ps"},
                                            {"docker", "build", "--network=host", "."},
                                            {"docker", "build", "--allow=security.insecure", "."},
                                            {"docker", "build", "-f", "/etc/passwd", "."},
                                            {"docker", "cp", "x:/a", "/b"},
                                            {"docker", "compose", "up"},
                                            {"docker", "container", "cp", "x:/a", "b"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(Harden, LeavesToolsWithoutHardeningAlone) {
  EXPECT_THAT(hardened({"jq", "-n", "1"})->argv, ElementsAre("jq", "-n", "1"));
  EXPECT_TRUE(hardened({"node", "-e", "1"})->env.empty());
}

RC_GTEST_PROP(Harden, IsDeterministicBeginsWithTheToolAndKeepsTheCallersArgumentsInOrder, ()) {
  const auto tool = *rc::gen::elementOf(Args{"git", "npm", "rg", "semgrep", "gitleaks", "docker", "jq"});
  const auto word =
      rc::gen::elementOf(Args{"run", "log", "status", "install", "test", "scan", "--json", "-v", "x", "--", "build",
                              "stash", "show", "HEAD", "-n", "--rm", "--network=none", "", "ps"});
  Args argv = *rc::gen::container<Args>(word);
  argv.insert(argv.begin(), tool);
  const Result<HardenedCommand> command = hardened(argv);
  const Result<HardenedCommand> again = hardened(argv);
  RC_ASSERT(command.has_value() == again.has_value());
  RC_CLASSIFY(command.has_value(), "accepted");
  if (!command) return;
  RC_ASSERT(command->argv == again->argv);
  RC_ASSERT(command->argv.front() == tool);
  auto at = command->argv.begin();
  for (const std::string& argument : argv) {
    at = std::find(at, command->argv.end(), argument);
    RC_ASSERT(at != command->argv.end());
    ++at;
  }
}

}  // namespace
}  // namespace sallyport
