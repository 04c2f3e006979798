#include "attack/program/attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sallyport::attacks {

char secret_in_memory[kSecretSize];

void effect(std::string_view what) {
  std::string line = "EFFECT:";
  line += what;
  line += '\n';
  // One write, so that lines of several processes stay whole.
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(3);
}

void broken_if_looked_at(long result) {
  if (result >= 0 || (errno != EPERM && errno != ENOSYS)) broken();
}

bool print_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // it may turn out to be an empty pipe
  if (fd < 0) return false;
  char text[256];
  const ssize_t size = read(fd, text, sizeof text);
  if (size > 0) effect({text, static_cast<std::size_t>(size)});
  close(fd);
  return size > 0;
}

void print_entries(const std::string& directory) {
  DIR* const entries = opendir(directory.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) effect(entry->d_name);
  closedir(entries);
}

bool put(const std::string& path, std::string_view content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  const bool written = write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  close(fd);
  return written;
}

void in_child(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

bool harmless() { return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 || geteuid() != 0; }

}  // namespace sallyport::attacks
