#include "support/forked.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace sallyport::test {
namespace {

constexpr unsigned kNobody = 65534;

}  // namespace

pid_t fork_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

int run_descriptor(int program, const char* name) {
  std::string argument(name);
  const int status = wait_for(fork_child([&] {
    const std::array<char*, 2> argv = {argument.data(), nullptr};
    const std::array<char*, 1> environment = {nullptr};
    ::fexecve(program, argv.data(), environment.data());
    return 120;
  }));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool ask_as_plain_user(const std::function<bool()>& question) {
  if (::geteuid() != 0) return question();
  return wait_for(fork_child([&] {
           const bool dropped =
               ::setresgid(kNobody, kNobody, kNobody) == 0 && ::setresuid(kNobody, kNobody, kNobody) == 0;
           return dropped && question() ? 0 : 1;
         })) == 0;
}

void give_to_plain_user(const char* path) {
  if (::geteuid() == 0) static_cast<void>(::chown(path, kNobody, kNobody) == 0);
}

}  // namespace sallyport::test
