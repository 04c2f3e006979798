// Runs a program where user namespaces are switched off, as the given user: in a user namespace that maps every id and
// whose own limit is 0. It does not change the host's limit.
//
//   usage: without_userns UID GID PROGRAM [ARGUMENT...]        as root
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void give_up(const char* step) {
  std::perror(step);
  std::_Exit(99);
}

void write_file(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) give_up(path.c_str());
  ::close(fd);
}

void await(int fd) {
  char byte = 0;
  if (::read(fd, &byte, 1) != 1) give_up("read");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 99;
  const auto uid = static_cast<uid_t>(std::atoi(argv[1]));
  const auto gid = static_cast<gid_t>(std::atoi(argv[2]));
  std::array<int, 2> made{};
  std::array<int, 2> mapped{};
  if (::pipe2(made.data(), O_CLOEXEC) != 0 || ::pipe2(mapped.data(), O_CLOEXEC) != 0) give_up("pipe2");
  const pid_t outside = ::fork();
  if (outside < 0) give_up("fork");
  if (outside == 0) {
    await(made[0]);
    const std::string parent = "/proc/" + std::to_string(::getppid());
    write_file(parent + "/uid_map", "0 0 4294967295");
    write_file(parent + "/gid_map", "0 0 4294967295");
    std::_Exit(::write(mapped[1], "x", 1) == 1 ? 0 : 99);
  }
  if (::unshare(CLONE_NEWUSER) != 0) give_up("unshare");
  if (::write(made[1], "x", 1) != 1) give_up("write");
  await(mapped[0]);
  int status = 0;
  if (::waitpid(outside, &status, 0) != outside || status != 0) return 99;
  write_file("/proc/sys/user/max_user_namespaces", "0");
  if (::setgroups(0, nullptr) != 0 || ::setresgid(gid, gid, gid) != 0 || ::setresuid(uid, uid, uid) != 0) {
    give_up("become another user");
  }
  ::execv(argv[3], argv + 3);
  give_up(argv[3]);
}
