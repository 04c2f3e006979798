// Real programs run unharmed inside, with default settings, in either jail.
#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/surroundings.h"
#include "support/jails.h"

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

  [[nodiscard]] const fs::path& repo() const { return repo_.path(); }

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
TEST_P(RealProgram, PythonWithEveryKindOfProcess) {
  test::write_file(repo() / "kinds.py", R"(
import asyncio, mmap, multiprocessing, os, resource, socket, sqlite3, subprocess, tempfile
from multiprocessing import shared_memory
def square(x): return x * x
async def child():
    process = await asyncio.create_subprocess_exec('/bin/echo', 'hi', stdout=asyncio.subprocess.PIPE)
    assert (await process.communicate())[0] == b'hi\n'
    (await asyncio.start_server(lambda r, w: w.close(), '127.0.0.1', 0)).close()
if __name__ == '__main__':
    for kind in ('fork', 'spawn', 'forkserver'):
        with multiprocessing.get_context(kind).Pool(2) as pool: assert pool.map(square, [2, 3]) == [4, 9]
    asyncio.run(child())
    mmap.mmap(-1, 4096)[:3] = b'abc'
    memory = shared_memory.SharedMemory(create=True, size=64); memory.close(); memory.unlink()
    with tempfile.TemporaryDirectory() as place:
        sqlite3.connect(place + '/db').execute('create table t(a)')
        os.chmod(place + '/db', 0o640)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    resource.prlimit(os.getpid(), resource.RLIMIT_CORE, resource.prlimit(os.getpid(), resource.RLIMIT_CORE))
    socket.socketpair(); subprocess.run(['/bin/true'], check=True)
    print('every kind')
)");
  works({"python3", "kinds.py"}, "every kind");
}
TEST_P(RealProgram, NodeWithChildrenAndAServer) {
  works({"node", "-e",
         "const child = require('child_process').execSync('echo hi').toString().trim();"
         "require('http').createServer().listen(0, function () { console.log(child, 'listening'); this.close(); })"},
        "hi listening");
}
TEST_P(RealProgram, Perl) { works({"perl", "-e", "system('/bin/echo', 'from perl') == 0 or die $!"}, "from perl"); }
TEST_P(RealProgram, Openssl) { works({"openssl", "dgst", "-sha256", "data.json"}, "data.json"); }
TEST_P(RealProgram, Busybox) { works({"busybox", "wc", "-l", "data.json"}, "1 data.json"); }
// Each sanitizer asks the kernel for something of its own: huge mappings, a personality, /proc.
TEST_P(RealProgram, SanitizedPrograms) {
  works({"bash", "-c",
         // The leak check at the end traces the program from outside, which no jail lets anybody do.
         "export ASAN_OPTIONS=detect_leaks=0; for s in address undefined thread; do gcc -fsanitize=$s -o /tmp/probe/$s "
         "hello.c && /tmp/probe/$s || exit 1; "
         "done; echo all three"},
        "all three");
}
TEST_P(RealProgram, CmakeAndNinja) {
  test::write_file(repo() / "CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.20)\nproject(x C)\nadd_executable(x hello.c)\n");
  works({"bash", "-c", "cmake -G Ninja -S . -B /tmp/probe/b >/dev/null && ninja -C /tmp/probe/b && /tmp/probe/b/x"},
        "hello");
}
// Modes as honest archives have them, down to the sticky bit; set-id ones are the attacks'.
TEST_P(RealProgram, TarAndCopyKeepModes) {
  works({"bash", "-c",
         "cd /tmp/probe && mkdir -m 1777 d && echo x > d/f && chmod 750 d/f && tar cf t.tar d && mkdir o && "
         "tar xpf t.tar -C o && cp -a o/d c && stat -c %a c c/f"},
        "1777\n750");
}
TEST_P(RealProgram, JavaCompilesAndRunsThreads) {
  if (!fs::exists("/usr/bin/javac")) GTEST_SKIP() << "no JVM here";
  test::write_file(
      repo() / "Sum.java",
      "import java.util.stream.*;\npublic class Sum { public static void main(String[] a) throws Exception {"
      " new ProcessBuilder(\"/bin/true\").start().waitFor();"
      " System.out.println(\"sum \" + IntStream.range(0, 100000).parallel().map(x -> 1).sum()); } }\n");
  works({"java", "Sum.java"}, "sum 100000");
}
TEST_P(RealProgram, Valgrind) {
  if (!fs::exists("/usr/bin/valgrind")) GTEST_SKIP() << "no valgrind here";
  works({"valgrind", "/bin/true"}, "ERROR SUMMARY: 0 errors");
}
TEST_P(RealProgram, Java) {
  if (!fs::exists("/usr/bin/java")) GTEST_SKIP() << "no JVM here";
  works({"java", "-version"}, "version");
}

INSTANTIATE_TEST_SUITE_P(, RealProgram, testing::ValuesIn(test::jails_with_a_root()),
                         [](const auto& test) { return std::string(test.param.name()); });

}  // namespace
}  // namespace sallyport::conformance
