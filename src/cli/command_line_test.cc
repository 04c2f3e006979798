#include "cli/command_line.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "cli/call_options.h"
#include "cli/help.h"

namespace sallyport::cli {
namespace {

using namespace std::chrono_literals;
using Args = std::vector<std::string>;

CallOptions run_options(const Args& args) {
  Format format = Format::kText;
  const Result<std::optional<CallOptions>> call = parse_call_options(std::span(args).subspan(1), format);
  if (!call) {
    ADD_FAILURE() << call.error().message;
    return {};
  }
  if (!*call) ADD_FAILURE() << "help was asked for";
  return call->value_or(CallOptions{});
}

Result<Action> parsed(const Args& args) {
  Format format = Format::kText;
  return parse_command_line(args, format);
}

Format format_of(const Args& args) {
  Format format = Format::kText;
  static_cast<void>(parse_command_line(args, format));
  return format;
}

Error error_of(const Args& args) {
  const Result<Action> command = parsed(args);
  if (command) ADD_FAILURE() << "parsed";
  return command ? Error{InvalidRequest{}, "", ""} : command.error();
}

TEST(CommandLine, DefaultsDeny) {
  const CallOptions call = run_options({"run", "--", "git", "status"});
  EXPECT_EQ(call.argv, (Args{"git", "status"}));
  EXPECT_EQ(call.timeout, 10min);
  EXPECT_EQ(call.max_output, mebibytes(64));
  EXPECT_EQ(call.jail, JailKind::kAuto);
  EXPECT_EQ(call.repo_access, RepoAccess::kReadOnly);
  EXPECT_EQ(call.stdin_choice, StdinChoice::kNull);
  EXPECT_EQ(call.format, Format::kText);
  EXPECT_FALSE(call.repo || call.cwd || call.policy || call.memory || call.pids || call.cpu || call.disk || call.probe);
  EXPECT_TRUE(call.required.empty() && call.env.empty() && call.read_only.empty() && call.read_write.empty());
}

// A whole word of the page: "--ro" is not in "--rows".
bool has_option(std::string_view page, std::string_view option) {
  constexpr std::string_view kOfAName = "abcdefghijklmnopqrstuvwxyz-";
  for (std::size_t at = page.find(option); at != std::string_view::npos; at = page.find(option, at + 1)) {
    const std::size_t after = at + option.size();
    if (after == page.size() || kOfAName.find(page[after]) == std::string_view::npos) return true;
  }
  return false;
}

TEST(CommandLine, EveryOptionOfRunIsInItsHelp) {
  const Verb* const run = find_verb("run");
  ASSERT_NE(run, nullptr);
  const std::vector<std::string_view> options = call_option_names();
  EXPECT_GT(options.size(), 40U);
  for (const std::string_view option : options) EXPECT_TRUE(has_option(run->page, option)) << option;
  EXPECT_FALSE(has_option(run->page, "--rep"));  // control: the start of "--repo" is no option
}

// Each value after its option, as a word of its own.
Args every_option() {
  return {"run",
          "--repo",
          "/r",
          "--cwd",
          "/r/c",
          "--timeout",
          "1.5s",
          "--probe",
          "p1",
          "--max-output",
          "1K",
          "--policy",
          "/p",
          "--json",
          "--jail",
          "none",
          "--require",
          "limit.wall,net.isolated",
          "--memory",
          "512M",
          "--pids",
          "128",
          "--cpu",
          "30s",
          "--disk",
          "256M",
          "--rw",
          "/w",
          "--ro",
          "/o",
          "--writable-repo",
          "--writable-git",
          "--env",
          "A=b=c",
          "--verbose",
          "--stdin",
          "git"};
}

Args joined_by_equals(const Args& separated) {
  Args joined;
  for (std::size_t i = 0; i < separated.size(); ++i) {
    const bool takes_value = separated[i].starts_with("--") && i + 1 < separated.size() &&
                             !separated[i + 1].starts_with("--") && separated[i + 1] != "git";
    joined.push_back(takes_value ? separated[i] + "=" + separated[i + 1] : separated[i]);
    if (takes_value) ++i;
  }
  return joined;
}

TEST(CommandLine, EveryOptionWorksSeparatedAndWithEquals) {
  for (const Args& args : {every_option(), joined_by_equals(every_option())}) {
    const CallOptions call = run_options(args);
    EXPECT_EQ(call.repo, "/r");
    EXPECT_EQ(call.cwd, "/r/c");
    EXPECT_EQ(call.timeout, 1500ms);
    EXPECT_EQ(call.probe, "p1");
    EXPECT_EQ(call.max_output, ByteCount{1024});
    EXPECT_EQ(call.policy, "/p");
    EXPECT_EQ(call.format, Format::kJson);
    EXPECT_EQ(call.jail, JailKind::kNone);
    EXPECT_EQ(call.required, (std::vector{Guarantee::kLimitWall, Guarantee::kNetIsolated}));
    EXPECT_EQ(call.memory, mebibytes(512));
    EXPECT_EQ(call.pids, 128u);
    EXPECT_EQ(call.cpu, 30s);
    EXPECT_EQ(call.disk, mebibytes(256));
    EXPECT_EQ(call.read_write, (std::vector<std::filesystem::path>{"/w"}));
    EXPECT_EQ(call.read_only, (std::vector<std::filesystem::path>{"/o"}));
    EXPECT_EQ(call.repo_access, RepoAccess::kWritable);
    EXPECT_EQ(call.git_access, GitAccess::kWritable);
    EXPECT_EQ(call.env, (std::vector<EnvVar>{{"A", "b=c"}}));
    EXPECT_EQ(call.verbosity, Verbosity::kVerbose);
    EXPECT_EQ(call.stdin_choice, StdinChoice::kOurs);
    EXPECT_EQ(call.argv, Args{"git"});
  }
}

TEST(CommandLine, EverythingAfterTheToolIsTheTools) {
  EXPECT_EQ(run_options({"run", "git", "--json", "--", "--help"}).argv, (Args{"git", "--json", "--", "--help"}));
  EXPECT_EQ(run_options({"run", "git", "--json"}).format, Format::kText);
  EXPECT_EQ(run_options({"run", "--json", "--", "--repo"}).argv, Args{"--repo"});
  EXPECT_EQ(run_options({"run", "--", ""}).argv, Args{""});
}

TEST(CommandLine, NoToolAndAWrongProbeNameAreLeftToTheGate_C36) {
  for (const Args& args : {Args{"run"}, Args{"run", "--"}}) EXPECT_TRUE(run_options(args).argv.empty());
  EXPECT_EQ(run_options({"run", "--probe", "Not-Valid", "git"}).probe, "Not-Valid");
}

TEST(CommandLine, HostsAndLimitsThatNobodyMayHaveAreLeftToTheGate_C36) {
  EXPECT_EQ(run_options({"run", "--allow-host", "*", "--allow-host", "192.0.2.1", "git"}).allowed_egress,
            (Args{"*", "192.0.2.1"}));
  EXPECT_EQ(run_options({"run", "--nofile", "0", "git"}).open_files, 0U);
  const CallOptions proxied = run_options({"run", "--via-proxy", "ftp://x", "git"});
  ASSERT_TRUE(proxied.via_proxy);
  EXPECT_EQ(proxied.via_proxy->url, "ftp://x");
  EXPECT_FALSE(proxied.proxy_of_environment);
  Format format = Format::kText;
  EXPECT_TRUE(parse_command_line(Args{"validate", "--registry", "192.0.2.1", "--allow-host", "*"}, format));
  EXPECT_FALSE(parse_command_line(Args{"run", "--nofile", "many", "git"}, format));  // the control: no number at all
}

TEST(CommandLine, ASlipOfTheFingersGetsASuggestion) {
  EXPECT_EQ(error_of({"rnu", "--", "git"}).hint, "did you mean 'run'?");
  EXPECT_EQ(error_of({"run", "--tmieout", "1s", "git"}).hint, "did you mean '--timeout'?");
  EXPECT_EQ(error_of({"run", "--require", "net.isolatd", "git"}).hint, "did you mean 'net.isolated'?");
  EXPECT_EQ(error_of({"allowlist", "lst"}).hint, "did you mean 'list'?");
  EXPECT_EQ(error_of({"help", "explian"}).hint, "did you mean 'explain'?");
}

TEST(CommandLine, WrongUsageIsRefusedWithAHint) {
  const std::vector<Args> wrong = {
      {},
      {"--json", "run"},
      {"nonsense"},
      {"run", "--timeout"},
      {"run", "--timeout", "--json", "git"},
      {"run", "--timeout", "5", "git"},
      {"run", "--timeout", "-5s", "git"},
      {"run", "--timeout", "", "git"},
      {"run", "--timeout=", "git"},
      {"run", "--timeout", "1s", "--timeout", "2s", "git"},
      {"run", "--json=yes", "git"},
      {"run", "--pids", "many", "git"},
      {"run", "--pids", "99999999999", "git"},
      {"run", "--memory", "1X", "git"},
      {"run", "--env", "NOEQUALS", "git"},
      {"run", "--env", "=x", "git"},
      {"run", "--require", "", "git"},
      {"run", "--require", "net.isolated,", "git"},
      {"run", "-x", "git"},
      {"allowlist", "show"},
      {"allowlist", "check"},
      {"allowlist", "list", "more"},
      {"allowlist", "--nope"},
      {"help", "run", "more"},
      {"--version", "more"},
  };
  for (const Args& args : wrong) {
    const Error error = error_of(args);
    EXPECT_NE(error.as<InvalidRequest>(), nullptr) << error.message;
    EXPECT_FALSE(error.hint.empty()) << error.message;
  }
}

TEST(CommandLine, EscapesInTheArgumentsNeverReachTheMessage) {
  for (const Args& args : {Args{"\x1b]0;x\x07"}, Args{"run", "--\x1b[2J"}, Args{"run", "--timeout", "\x1b[2J", "git"},
                           Args{"run", "--env", "\x1b[2J", "git"}, Args{"allowlist", "\x1b[2J"},
                           Args{"run", "--require", "\x1b[2J", "git"}}) {
    const Error error = error_of(args);
    EXPECT_EQ((error.message + error.hint).find('\x1b'), std::string::npos) << error.message;
  }
}

// What an action prints when it is carried out; every one of these only prints.
std::string printed_by(const Args& args) {
  const Result<Action> action = parsed(args);
  if (!action) {
    ADD_FAILURE() << action.error().message;
    return {};
  }
  testing::internal::CaptureStdout();
  EXPECT_EQ((*action)(Environment{}), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(CommandLine, HelpAndVersion) {
  for (const Args& args : {Args{"--help"}, Args{"help"}, Args{"-h"}, Args{"help", "help"}}) {
    EXPECT_EQ(printed_by(args), overview());
  }
  EXPECT_EQ(printed_by({"help", "run"}), find_verb("run")->page);
  EXPECT_EQ(printed_by({"run", "--json", "--help"}), find_verb("run")->page);
  EXPECT_EQ(printed_by({"explain", "-h"}), find_verb("explain")->page);
  EXPECT_EQ(printed_by({"allowlist", "show", "--help"}), find_verb("allowlist")->page);
  EXPECT_TRUE(printed_by({"--version"}).starts_with("sallyport "));
}

TEST(CommandLine, EveryVerbIsInTheOverviewAndHasAPageOfOneScreen) {
  for (const Verb* const verb : verbs()) {
    EXPECT_NE(overview().find(verb->summary), std::string::npos) << verb->name;
    EXPECT_EQ(find_verb(verb->name), verb);
    if (verb->name == "help") continue;
    EXPECT_TRUE(verb->page.starts_with("usage: sallyport " + std::string(verb->name))) << verb->name;
    EXPECT_LE(std::ranges::count(verb->page, '\n'), 24) << verb->name;
  }
}

TEST(CommandLine, AllowlistTakesItsOptionsAnywhere) {
  EXPECT_NE(printed_by({"allowlist", "--json", "show", "git"}).find("\"name\":\"git\""), std::string::npos);
  EXPECT_NE(printed_by({"allowlist", "show", "git", "--json"}).find("\"name\":\"git\""), std::string::npos);
}

TEST(CommandLine, AnErrorIsReportedInTheFormatThatWasAskedFor) {
  EXPECT_EQ(format_of({"run", "--tmieout", "1s", "--json", "git"}), Format::kText);  // "1s" reads as the tool
  EXPECT_EQ(format_of({"run", "--json", "--tmieout", "1s", "git"}), Format::kJson);
  EXPECT_EQ(format_of({"run", "--bad", "--json", "git"}), Format::kJson);
  EXPECT_EQ(format_of({"run", "--repo", "x", "--json"}), Format::kJson);
  EXPECT_EQ(format_of({"run", "git", "--json"}), Format::kText);
  EXPECT_EQ(format_of({"run", "--", "git", "--json"}), Format::kText);
  EXPECT_EQ(format_of({"allowlist", "nonsense", "--json"}), Format::kJson);
  EXPECT_EQ(format_of({}), Format::kText);
  EXPECT_EQ(format_of({"allowlist", "--bad", "--json", "show"}), Format::kJson);
  EXPECT_EQ(format_of({"allowlist", "--policy", "--json"}), Format::kJson);  // a value that was forgotten
  EXPECT_EQ(format_of({"audit", "nonsense", "--json"}), Format::kJson);
  EXPECT_EQ(format_of({"nonsense", "--json"}), Format::kJson);
  EXPECT_EQ(format_of({"help", "run", "--json"}), Format::kJson);
}

// Every word after the tool's name belongs to the tool, with every verb that passes words on.
TEST(CommandLine, AToolsOwnJsonIsNotOurs) {
  EXPECT_EQ(format_of({"workspace", "run", "x", "--typo", "--", "npm", "audit", "--json"}), Format::kText);
  EXPECT_EQ(format_of({"workspace", "run", "x", "--json", "--typo", "--", "npm", "audit"}), Format::kJson);
  EXPECT_EQ(format_of({"workspace", "run", "x", "--typo", "--json", "--", "npm", "audit"}), Format::kJson);
  EXPECT_EQ(format_of({"workspace", "run", "--", "npm", "audit", "--json"}), Format::kText);  // no name
  EXPECT_EQ(format_of({"workspace", "run", "--json"}), Format::kJson);
  EXPECT_EQ(format_of({"explain", "--bad", "--", "npm", "--json"}), Format::kText);
  EXPECT_EQ(format_of({"rnu", "--", "npm", "audit", "--json"}), Format::kText);
  EXPECT_EQ(format_of({"--repo", "x", "run", "--", "npm", "audit", "--json"}), Format::kText);
}

TEST(CommandLine, ArbitraryWordsNeverThrowAndFailuresAreOneLine) {
  const auto word =
      rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                     rc::gen::element<std::string>("run", "explain", "allowlist", "--", "--json", "--env", "--cpu",
                                                   "--require", "git", "--timeout=1s", "show", "--policy"));
  EXPECT_TRUE(rc::check([&] {
    const auto args = *rc::gen::container<Args>(word);
    const Result<Action> command = parsed(args);
    if (!command) RC_ASSERT(command.error().message.find('\n') == std::string::npos);
  }));
}

}  // namespace
}  // namespace sallyport::cli
