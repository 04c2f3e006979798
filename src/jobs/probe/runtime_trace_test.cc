#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/probe/start_command.h"
#include "jobs/probe/strace_text.h"
#include "jobs/probe/trace_container.h"

namespace sallyport::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As strace 6.1 prints it with -f -q -y.
constexpr std::string_view kTrace =
    R"(execve("/usr/bin/node", ["node", "app.js"], 0x7fff11832720 /* 3 vars */) = 0
openat(AT_FDCWD</srv/theirs>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
[pid     5] openat(AT_FDCWD</srv/theirs>, "/etc/evil", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = -1 EROFS (Read-only file system)
no EROFS
[pid     5] openat(AT_FDCWD</srv/theirs>, "log/out", O_WRONLY|O_CREAT, 0666 <unfinished ...>
[pid    12] execve("/usr/bin/uname", ["uname", "-a"], 0x1eb5eb20 /* 3 vars */) = 0
[pid     5] <... openat resumed>)       = 18</srv/theirs/log/out>
[pid    13] connect(18<socket:[39586]>, {sa_family=AF_UNIX, sun_path="/var/run/docker.sock"}, 110) = -1 ENOENT (No such file or directory)
[pid    13] connect(18<socket:[39592]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.7")}, 16) = -1 ENETUNREACH (Network is unreachable)
[pid    13] connect(18<socket:[39593]>, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ENETUNREACH (Network is unreachable)
[pid    12] +++ exited with 0 +++
+++ exited with 0 +++
)";

TEST(StraceText, NamesProgramsWritesAndAddressesAlsoOfCallsCutInTwo_C31) {
  const auto trace = parse_strace(kTrace);
  ASSERT_TRUE(trace.has_value()) << trace.error();
  EXPECT_THAT(trace->programs, ElementsAre("/usr/bin/node", "/usr/bin/uname"));
  EXPECT_THAT(trace->written, ElementsAre("/srv/theirs/log/out"));
  EXPECT_THAT(trace->write_refused, ElementsAre("/etc/evil"));
  EXPECT_THAT(trace->read, ElementsAre("/etc/ld.so.cache"));
  EXPECT_THAT(trace->sockets, ElementsAre("/var/run/docker.sock"));
  EXPECT_THAT(trace->addresses, ElementsAre("192.0.2.7", "2001:db8::1"));
  EXPECT_EQ(trace->end, "exited with 0");
  EXPECT_FALSE(trace->reached_for_tracer);
}

TEST(StraceText, ACallBehindTheProgramsOwnWordsIsSeen_C38) {
  const auto trace = parse_strace(
      "execve(\"/usr/bin/node\", [\"node\"], 0x1 /* 3 vars */) = 0\n"
      "half a line[pid     5] openat(AT_FDCWD</r>, \"/etc/\\\"x\\303\\244\", O_RDWR) = 3</etc/x>\n");
  ASSERT_TRUE(trace.has_value()) << trace.error();
  EXPECT_THAT(trace->written, ElementsAre("/etc/x"));
  EXPECT_EQ(trace->end, "");
}

TEST(StraceText, ANameThatLooksLikeAFlagIsNoWrite) {
  const auto trace = parse_strace(
      "execve(\"/n\", [], 0x1 /* 0 vars */) = 0\nopenat(AT_FDCWD</r>, \"O_WRONLY\", O_RDONLY) = 3</r/O_WRONLY>\n");
  ASSERT_TRUE(trace.has_value()) << trace.error();
  EXPECT_TRUE(trace->written.empty());
  EXPECT_THAT(trace->read, ElementsAre("/r/O_WRONLY"));
}

TEST(StraceText, WhoeverReachesForTheTracerIsSeenAlsoWhenTheCallNeverReturns_C38) {
  const std::string start = "execve(\"/n\", [], 0x1 /* 0 vars */) = 0\n";
  EXPECT_TRUE(parse_strace(start + "ptrace(PTRACE_SEIZE, 2, NULL, 0 <unfinished ...>\n")->reached_for_tracer);
  EXPECT_TRUE(parse_strace(start + "[pid 4] kill(2, SIGKILL <unfinished ...>\n")->reached_for_tracer);
  EXPECT_FALSE(parse_strace(start + "[pid 4] kill(17, SIGTERM) = 0\n")->reached_for_tracer);
}

TEST(StraceText, WhatNamesNoProgramIsNoTrace_C38) {
  EXPECT_THAT(parse_strace("").error(), HasSubstr("no program"));
  EXPECT_FALSE(parse_strace("strace: exec: Permission denied\n").has_value());
  EXPECT_FALSE(parse_strace("execve(\"/n\", [], 0x1) = -1 ENOENT (No such file or directory)\n").has_value());
}

Survey files(std::vector<std::string> paths) {
  Survey survey;
  for (std::string& path : paths) survey.files.push_back({.path = std::move(path)});
  return survey;
}

TEST(StartCommand, IsThePlainScriptElseTheMainFile) {
  const Survey all = files({"index.js", "lib/app.js", "package.json"});
  EXPECT_THAT(start_command_of(R"({"scripts":{"start":"node  lib/app.js --port 1"}})", all)->argv,
              ElementsAre("node", "lib/app.js", "--port", "1"));
  EXPECT_THAT(start_command_of(R"({"scripts":{"start":"node a.js && rm -rf ~"},"main":"./lib/app"})", all)->argv,
              ElementsAre("node", "./lib/app.js"));
  EXPECT_THAT(start_command_of("{}", all)->argv, ElementsAre("node", "./index.js"));
}

TEST(StartCommand, WhatIsNotThereOrIsAnOptionIsNotStarted) {
  EXPECT_FALSE(start_command_of(R"({"main":"--eval"})", files({"--eval"})).has_value());
  EXPECT_FALSE(start_command_of(R"({"main":"gone.js"})", files({"package.json"})).has_value());
  EXPECT_THAT(start_command_of("nonsense", files({})).error(), HasSubstr("not understood"));
}

TEST(TraceContainer, TheImageStartsItsEntrypointWithItsCommand) {
  EXPECT_THAT(started_by_image(R"({"Entrypoint":["/bin/app"],"Cmd":["-x"]})"), ElementsAre("/bin/app", "-x"));
  EXPECT_THAT(started_by_image(R"({"Entrypoint":null,"Cmd":["sh"]})"), ElementsAre("sh"));
  EXPECT_TRUE(started_by_image("{}").empty());
  EXPECT_TRUE(started_by_image("no json").empty());
}

}  // namespace
}  // namespace sallyport::jobs
