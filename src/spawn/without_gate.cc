#include "spawn/without_gate.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <thread>
#include <utility>

#include "core/errors.h"

namespace sallyport::spawn {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Result<CarelessProcess> CarelessProcess::start(const CarelessStart& how) {
  FileActions actions;
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  if (how.stdin_fd >= 0) {
    posix_spawn_file_actions_adddup2(actions.get(), how.stdin_fd, 0);
  } else {
    posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_addopen(actions.get(), 1, how.stdout_to.c_str(), kAppend, 0600);
  posix_spawn_file_actions_addopen(actions.get(), 2, how.stderr_to.c_str(), kAppend, 0600);
  posix_spawn_file_actions_addchdir_np(actions.get(), how.cwd.c_str());
  std::vector<std::string> argv = how.argv;
  std::vector<std::string> env = how.env;
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, how.program.c_str(), actions.get(), nullptr, pointers(argv).data(), pointers(env).data());
  if (error != 0) return fail(system_error("start", how.program.native(), error));
  return CarelessProcess(pid);
}

CarelessProcess::CarelessProcess(CarelessProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

CarelessProcess::~CarelessProcess() {
  if (pid_ < 0 || status_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<int> CarelessProcess::wait(std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (!status_) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = status;
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return status_;
}

void CarelessProcess::send_signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(pid_, number);
}

}  // namespace sallyport::spawn
