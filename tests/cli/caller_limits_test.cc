// A shell that allows little, and a shell that is in a jail already: a run works, or says what to change.
#include "cli/cli_fixture.h"

namespace sallyport::test {
namespace {

using CliCallerLimits = CliTest;

ProgramResult under(const std::string& setting, const Words& args, const ProgramOptions& options) {
  Words argv{"/bin/sh", "-c", setting + " && exec \"$@\"", "sh", sallyport_binary()};
  argv.insert(argv.end(), args.begin(), args.end());
  return run_program(argv, options);
}

Words command(const std::string& jail, const std::string& policy) {
  return {"run", "--jail", jail, "--policy", policy, "--", "exit_with", "7"};
}

TEST_F(CliCallerLimits, FewOpenFilesAreEnoughOrNamed) {
  for (const char* jail : {"none", "native", "bwrap"}) {
    for (const char* setting : {"ulimit -n 256", "ulimit -n 300", "ulimit -n 128"}) {
      const ProgramResult result =
          under(setting, command(jail, policy_.string()), {.cwd = repo_, .environment = environment_});
      EXPECT_EQ(result.exit_code, 7) << jail << ", " << setting << ": " << result.stderr_bytes;
    }
    for (const char* setting : {"ulimit -n 12", "ulimit -n 20", "ulimit -n 63"}) {
      const ProgramResult result =
          under(setting, command(jail, policy_.string()), {.cwd = repo_, .environment = environment_});
      EXPECT_EQ(result.exit_code, 125) << jail << ", " << setting;
      EXPECT_NE(result.stderr_bytes.find("ulimit -n"), std::string::npos) << result.stderr_bytes;
    }
  }
}

#ifndef SALLYPORT_SANITIZED  // ThreadSanitizer writes a file of its own first
TEST_F(CliCallerLimits, NoFileSizeIsNamed) {
  for (const char* jail : {"none", "native", "bwrap"}) {
    const ProgramResult result =
        under("ulimit -f 0", command(jail, policy_.string()), {.cwd = repo_, .environment = environment_});
    EXPECT_EQ(result.exit_code, 125) << jail;
    EXPECT_NE(result.stderr_bytes.find("ulimit -f"), std::string::npos) << result.stderr_bytes;
  }
}
#endif

TEST_F(CliCallerLimits, NoCoreFilesAndAnOddUmaskAreFine) {
  for (const char* jail : {"none", "native", "bwrap"}) {
    for (const char* setting : {"ulimit -c 0", "umask 0777", "umask 0"}) {
      const ProgramResult result =
          under(setting, command(jail, policy_.string()), {.cwd = repo_, .environment = environment_});
      EXPECT_EQ(result.exit_code, 7) << jail << ", " << setting << ": " << result.stderr_bytes;
    }
  }
}

TEST_F(CliCallerLimits, ARunInsideARunSaysThatItIsInAJail) {
  const std::filesystem::path program = sallyport_binary();
  write_file(policy_, policy_admitting({"sallyport"}));
  environment_[0].second = program.parent_path().string() + ":" + environment_[0].second;
  for (const char* jail : {"native", "bwrap"}) {
    const ProgramResult result = sallyport({"run", "--jail", jail, "--policy", policy_.string(), "--", "sallyport",
                                            "run", "--jail", "native", "--", "git", "--version"});
#ifndef SALLYPORT_SANITIZED  // whose leak check at the end fails in a jail
    EXPECT_EQ(result.exit_code, 125) << result.stderr_bytes;
#endif
    EXPECT_NE(result.stderr_bytes.find("jail already"), std::string::npos) << result.stderr_bytes;
  }
}

}  // namespace
}  // namespace sallyport::test
