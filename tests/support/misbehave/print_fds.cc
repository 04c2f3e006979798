// print_fds: every open descriptor and what it is, one a line, its own listing excepted.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

int main() {
  DIR* dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 1;
  while (const dirent* entry = readdir(dir)) {
    const int fd = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(dir)) continue;
    char target[512] = {};
    (void)!readlink((std::string("/proc/self/fd/") + entry->d_name).c_str(), target, sizeof target - 1);
    printf("%d %s\n", fd, target);
  }
  closedir(dir);
  return 0;
}
