// Real programs run unharmed inside, with default settings, in either jail.
#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/surroundings.h"
#include "core/jail_names.h"

namespace sallyport::conformance {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class RealProgram : public testing::TestWithParam<JailKind> {
 protected:
  RealProgram() {
    test::make_git_repo(repo_.path());
    test::write_file(repo_ / "hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n");
    test::write_file(repo_ / "data.json", "{\"answer\": 42}\n");
  }

  JailedSubprocessResult run(std::vector<std::string> argv) {
    Result<std::unique_ptr<Gate>> gate = Gate::open(config_admitting(repo_.path(), {argv[0]}, {"/usr/bin", "/bin"}));
    EXPECT_TRUE(gate);
    Result<JailedSubprocessResult> result = (*gate)->run(
        {.argv = std::move(argv), .repo = repo_.path(), .cwd = repo_.path(), .limits = {.wall = 120s}}, GetParam(), {});
    if (!result) {
      ADD_FAILURE() << result.error().message << "; " << result.error().hint;
      return {};
    }
    return *std::move(result);
  }

  // Exits with 0 and says `expected`.
  void works(std::vector<std::string> argv, std::string_view expected) {
    const std::string name = argv[0];
    const JailedSubprocessResult result = run(std::move(argv));
    const auto* completed = std::get_if<Completed>(&result.outcome);
    ASSERT_NE(completed, nullptr) << name << ": " << outcome_name(result.outcome);
    const auto* code = std::get_if<ExitCode>(&completed->fate);
    ASSERT_NE(code, nullptr) << name << " ended by a signal; " << result.stderr_stream.bytes;
    EXPECT_EQ(code->value, 0) << name << ": " << result.stderr_stream.bytes;
    const std::string all = result.stdout_stream.bytes + result.stderr_stream.bytes;
    EXPECT_NE(all.find(expected), std::string::npos) << name << ": " << all;
  }

  test::TempDir repo_;
};

TEST_P(RealProgram, GitStatusAndLog) {
  works({"git", "status", "--short"}, "?? hello.c");
  works({"git", "log", "--oneline"}, " ");
}
TEST_P(RealProgram, Ripgrep) { works({"rg", "puts"}, "hello.c"); }
TEST_P(RealProgram, Jq) { works({"jq", ".answer", "data.json"}, "42"); }
TEST_P(RealProgram, NodeWithWorkerThreads) {
  works({"node", "-e",
         "const {Worker} = require('worker_threads');"
         "new Worker('require(\"worker_threads\").parentPort.postMessage(6*7)', {eval: true})"
         ".on('message', m => console.log('answer', m))"},
        "answer 42");
}
TEST_P(RealProgram, Npm) { works({"npm", "--version"}, "."); }
TEST_P(RealProgram, PythonWithMultiprocessing) {
  works({"python3", "-c", "import multiprocessing as m\nwith m.Pool(2) as p: print('sum', sum(p.map(abs, [-1, -2])))"},
        "sum 3");
}
TEST_P(RealProgram, GccIntoScratch) {
  const JailedSubprocessResult result = run({"gcc", "-o", "/tmp/probe/hello", "hello.c"});
  ASSERT_TRUE(result.scratch) << result.stderr_stream.bytes;
  EXPECT_TRUE(result.scratch->open_file("probe/hello")) << result.stderr_stream.bytes;
}
TEST_P(RealProgram, Java) {
  if (!fs::exists("/usr/bin/java")) GTEST_SKIP() << "no JVM here";
  works({"java", "-version"}, "version");
}

INSTANTIATE_TEST_SUITE_P(, RealProgram, testing::Values(JailKind::kNative, JailKind::kBwrap),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace sallyport::conformance
