// Other processes: seeing, stopping, reading them, and outliving the run. Every process carries marker=… on its command
// line, and none lives longer than kLongest, found or not.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

constexpr unsigned kLongest = 30;
constexpr std::string_view kSecretWord("\0secret=", 8);  // a word of its own, not the end of another

void sleep_long() {
  alarm(kLongest);
  sleep(kLongest);
  _exit(0);
}

// Prints the NAME= or --secret= words that another process has in `file` of its /proc directory.
void print_words_of_others(const char* file, std::string_view key) {
  DIR* const processes = opendir("/proc");
  if (processes == nullptr) return;
  while (const dirent* entry = readdir(processes)) {
    if (atoi(entry->d_name) <= 0 || atoi(entry->d_name) == getpid()) continue;
    const int fd = open(("/proc/" + std::string(entry->d_name) + "/" + file).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    std::string text(65536, '\0');
    const ssize_t size = read(fd, text.data(), text.size());
    close(fd);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const std::size_t at = text.find(key);
    if (at != std::string::npos) effect(text.c_str() + at + key.size());
  }
  closedir(processes);
}

void memory_of_outside() {
  char stolen[kSecretSize] = {};
  const iovec mine{stolen, sizeof stolen};
  const iovec theirs{secret_in_memory, sizeof secret_in_memory};
  if (process_vm_readv(arg_number("pid"), &mine, 1, &theirs, 1, 0) > 0) effect(stolen);
}

void fd_of_outside() {
  const long process = syscall(SYS_pidfd_open, arg_number("pid"), 0);
  if (process < 0) return;
  const long stolen = syscall(SYS_pidfd_getfd, process, kSecretFd, 0);
  char text[kSecretSize] = {};
  if (stolen >= 0 && pread(static_cast<int>(stolen), text, sizeof text - 1, 0) > 0) effect(text);
}

void double_fork() {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  for (int fd = 0; fd < 3; ++fd) close(fd);
  sleep_long();
}

void ignored_sigterm() {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  alarm(kLongest);
  for (unsigned second = 0; second < kLongest; ++second) sleep(1);
}

void stopped_child() {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    sleep_long();
  }
  waitpid(child, nullptr, WUNTRACED);
}

void pipe_holder() {
  if (fork() == 0) {
    if (fork() == 0) sleep_long();
    _exit(0);
  }
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"see_outside", [] { print_words_of_others("cmdline", kSecretWord); }},
    Entry{"env_of_parents", [] { print_words_of_others("environ", "GITHUB_TOKEN="); }},
    Entry{"kill_outside", [] { kill(arg_number("pid"), SIGKILL); }},
    Entry{"ptrace_outside",
          [] {
            if (ptrace(PTRACE_SEIZE, arg_number("pid"), nullptr, nullptr) == 0) broken();
          }},
    Entry{"memory_of_outside", memory_of_outside},
    Entry{"fd_of_outside", fd_of_outside},
    Entry{"root_of_outside", [] { print_file("/proc/" + arg("pid") + "/root" + arg("tmp_secret")); }},
    Entry{"orphan", sleep_long},
    Entry{"double_fork", double_fork},
    Entry{"ignored_sigterm", ignored_sigterm},
    Entry{"stopped_child", stopped_child},
    Entry{"pipe_holder", pipe_holder},
});

// A process outside with secrets on its command line, in its memory and behind a descriptor.
void accomplice() {
  const std::string secret = arg("secret");
  secret.copy(secret_in_memory, kSecretSize - 1);
  const int fd = memfd_create("secret", 0);
  if (fd < 0 || write(fd, secret.data(), secret.size()) < 0 || dup2(fd, kSecretFd) < 0) return;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // otherwise a security module makes the control fail
  put(arg("ready"), "ready");
  sleep_long();
}

// What a careless owner does: start and wait.
void careless_owner() {
  const pid_t child = fork();
  if (child == 0) sleep_long();
  waitpid(child, nullptr, 0);
}

constexpr auto kHelpers =
    std::to_array<Entry>({Entry{"accomplice", accomplice}, Entry{"careless_owner", careless_owner}});

}  // namespace

std::span<const Entry> process_deeds() { return kDeeds; }
std::span<const Entry> helper_deeds() { return kHelpers; }

}  // namespace sallyport::attacks
