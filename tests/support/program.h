// Starts a program as a user would and returns its result. For tests only: they are outside the gate, so the chokepoint
// rule (C1) does not apply.
//
//   ProgramResult r = run_program({sallyport_binary(), "run", "--", "git", "--version"}, {.cwd = repo});
//   EXPECT_EQ(r.exit_code, 0) << r.stderr_bytes;
//
// A failure of the harness itself (no pipe, no fork) aborts the test program: there is nothing to assert then.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/plain_user.h"

namespace sallyport::test {

using Environment = std::vector<std::pair<std::string, std::string>>;

// What the program finds as its stdout. stderr is always captured.
enum class StdoutKind {
  kCaptured,
  kClosed,      // descriptor 1 is not open at all
  kBrokenPipe,  // a pipe that nobody reads any more
  kTerminal,    // a pseudo terminal; what reaches it is captured, "\n" arrives as "\r\n"
  kFullDevice,  // /dev/full: every write fails with ENOSPC
};

struct ProgramOptions {
  std::filesystem::path cwd{};  // empty: ours
  // Exactly these; unset: ours. A program of ours gets a state directory of the test's, too (support/state_home.h).
  std::optional<Environment> environment{};
  std::string stdin_bytes{};        // written, then closed; empty: the null device
  std::optional<PlainUser> user{};  // drop to this user before exec; needs root
  StdoutKind stdout_kind = StdoutKind::kCaptured;
};

struct ProgramResult {
  std::optional<int> exit_code;  // unset when a signal ended it
  std::optional<int> signal;
  std::string stdout_bytes;
  std::string stderr_bytes;
};

// A started program. The destructor kills (the program alone, not what it started) and reaps it.
class Program {
 public:
  [[nodiscard]] static Program start(const std::vector<std::string>& argv, const ProgramOptions& options = {});
  Program(Program&& other) noexcept;
  Program& operator=(Program&&) = delete;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send_signal(int number) const;
  // Reads both streams to their end and reaps.
  [[nodiscard]] ProgramResult wait();
  // Reads until `needle` has been seen on stdout (kept for wait()); false when the stream ended without it.
  [[nodiscard]] bool wait_for_stdout(const std::string& needle);
  [[nodiscard]] bool wait_for_stderr(const std::string& needle);

 private:
  Program() = default;
  bool read_once();

  pid_t pid_ = -1;
  int stdout_fd_ = -1;
  int stderr_fd_ = -1;
  ProgramResult result_;
};

[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& argv, const ProgramOptions& options = {});

}  // namespace sallyport::test
