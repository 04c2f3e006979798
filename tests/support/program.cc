#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "support/state_home.h"

namespace sallyport::test {
namespace {

[[noreturn]] void give_up(const char* what) {
  perror(what);
  abort();
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) give_up("pipe2");
  return {ends[0], ends[1]};
}

Pipe make_terminal() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) give_up("posix_openpt");
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) give_up("open pseudo terminal");
  return {master, slave};
}

// Small or large, the whole input is there before the program starts: nobody has to feed it while it runs.
int stdin_holding(const std::string& bytes) {
  if (bytes.empty()) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int fd = memfd_create("stdin", MFD_CLOEXEC);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) give_up("stdin");
  lseek(fd, 0, SEEK_SET);
  return fd;
}

Pipe stdout_of(StdoutKind kind) {
  switch (kind) {
    case StdoutKind::kClosed:
      return {};
    case StdoutKind::kTerminal:
      return make_terminal();
    case StdoutKind::kFullDevice:
      return {-1, open("/dev/full", O_WRONLY | O_CLOEXEC)};
    case StdoutKind::kBrokenPipe: {
      Pipe ends = make_pipe();
      close(std::exchange(ends.read_end, -1));
      return ends;
    }
    case StdoutKind::kCaptured:
      break;
  }
  return make_pipe();
}

bool starts_sallyport(const std::vector<std::string>& argv) {
  return std::ranges::any_of(argv, [](const std::string& word) { return word.ends_with("/sallyport"); });
}

ProgramOptions with_state_home(const std::vector<std::string>& argv, ProgramOptions options) {
  constexpr std::string_view kName = "XDG_STATE_HOME";
  if (!starts_sallyport(argv)) return options;
  if (!options.environment) {
    options.environment.emplace();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos || text.substr(0, equals) == kName) continue;
      options.environment->emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  const bool chosen =
      std::ranges::any_of(*options.environment, [&](const auto& entry) { return entry.first == kName; });
  if (!chosen) options.environment->emplace_back(kName, state_home(options.user).string());
  return options;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void become(const std::vector<std::string>& argv, const ProgramOptions& options, int in, int out,
                         int err) {
  // The test runner's own signal set-up must not leak into the program under test.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  dup2(in, 0);
  dup2(err, 2);
  if (out >= 0) {
    dup2(out, 1);
  } else {
    close(1);
  }
  if (!options.cwd.empty() && chdir(options.cwd.c_str()) != 0) give_up("chdir");
  if (options.user) drop_to(*options.user);
  std::vector<std::string> args = argv;
  std::vector<char*> arg_pointers = pointers(args);
  if (!options.environment) {
    execv(arg_pointers[0], arg_pointers.data());
  } else {
    std::vector<std::string> env;
    for (const auto& [name, value] : *options.environment) env.push_back(name + "=" + value);
    execve(arg_pointers[0], arg_pointers.data(), pointers(env).data());
  }
  perror("exec");
  _exit(126);
}

// True while there may be more to read.
bool drain(int& fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }
  if (got < 0 && errno == EINTR) return true;
  close(std::exchange(fd, -1));  // EIO is how a pseudo terminal says that its last writer is gone
  return false;
}

}  // namespace

Program Program::start(const std::vector<std::string>& argv, const ProgramOptions& wanted) {
  const ProgramOptions options = with_state_home(argv, wanted);
  const int in = stdin_holding(options.stdin_bytes);
  const Pipe out = stdout_of(options.stdout_kind);
  const Pipe err = make_pipe();
  Program program;
  program.pid_ = fork();
  if (program.pid_ < 0) give_up("fork");
  if (program.pid_ == 0) become(argv, options, in, out.write_end, err.write_end);
  close(in);
  if (out.write_end >= 0) close(out.write_end);
  close(err.write_end);
  program.stdout_fd_ = out.read_end;
  program.stderr_fd_ = err.read_end;
  return program;
}

Program::Program(Program&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      stdout_fd_(std::exchange(other.stdout_fd_, -1)),
      stderr_fd_(std::exchange(other.stderr_fd_, -1)),
      result_(std::move(other.result_)) {}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (stdout_fd_ >= 0) close(stdout_fd_);
  if (stderr_fd_ >= 0) close(stderr_fd_);
}

void Program::send_signal(int number) const { kill(pid_, number); }

bool Program::read_once() {
  std::array<pollfd, 2> fds{pollfd{stdout_fd_, POLLIN, 0}, pollfd{stderr_fd_, POLLIN, 0}};
  if (stdout_fd_ < 0 && stderr_fd_ < 0) return false;
  if (poll(fds.data(), fds.size(), -1) < 0) return errno == EINTR;
  if (fds[0].revents != 0) drain(stdout_fd_, result_.stdout_bytes);
  if (fds[1].revents != 0) drain(stderr_fd_, result_.stderr_bytes);
  return true;
}

bool Program::wait_for_stdout(const std::string& needle) {
  while (result_.stdout_bytes.find(needle) == std::string::npos) {
    if (stdout_fd_ < 0 || !read_once()) return false;
  }
  return true;
}

bool Program::wait_for_stderr(const std::string& needle) {
  while (result_.stderr_bytes.find(needle) == std::string::npos) {
    if (stderr_fd_ < 0 || !read_once()) return false;
  }
  return true;
}

ProgramResult Program::wait() {
  while (read_once()) {
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  return std::move(result_);
}

ProgramResult run_program(const std::vector<std::string>& argv, const ProgramOptions& options) {
  return Program::start(argv, options).wait();
}

}  // namespace sallyport::test
