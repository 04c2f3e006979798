// print_cwd: where it runs.
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main() {
  char path[PATH_MAX];
  if (getcwd(path, sizeof path) == nullptr) return 1;
  puts(path);
  return 0;
}
