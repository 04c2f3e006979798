// Holds a gate and runs one short tool after another until it is killed, or once when asked to. Says "running" before
// each run.
//
//   usage: conformance_owner JAIL once|forever REPO TOOLS MARKER
#include <stdio.h>
#include <unistd.h>

#include <string>

#include "conformance/surroundings.h"

int main(int argc, char** argv) {
  using namespace sallyport;
  using namespace std::chrono_literals;
  if (argc != 6) return 2;
  const JailKind jail(argv[1]);
  const std::string marker = argv[5];
  Result<std::unique_ptr<Gate>> gate =
      Gate::open(conformance::config_admitting(argv[3], {attack::kProgramName}, {argv[4], "/usr/bin", "/bin"}));
  if (!gate) return 3;
  Limits limits{.wall = 5s};
  if (geteuid() == 0) limits.memory = mebibytes(256);
  do {
    puts("running");
    fflush(stdout);
    const Result<JailedSubprocessResult> result =
        (*gate)->run({.argv = {std::string(attack::kProgramName), "double_fork", "marker=" + marker},
                      .repo = argv[3],
                      .cwd = argv[3],
                      .repo_access = RepoAccess::kWritable,
                      // It cannot close .git inside a writable repo, and refuses to try.
                      .git_access = jail == JailKind::kLandlock ? GitAccess::kWritable : GitAccess::kProtected,
                      .limits = limits},
                     jail, {});
    if (!result) {
      fprintf(stderr, "%s\n", result.error().message.c_str());
      return 1;
    }
  } while (std::string_view(argv[2]) == "forever");
  return 0;
}
