// burn_cpu MS [CHILDREN]: uses that much processor time itself, or in each of its children; then exits with 0.
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void burn(long milliseconds) {
  while (clock() < milliseconds * (CLOCKS_PER_SEC / 1000)) {
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const long milliseconds = atol(argv[1]);
  const int children = argc > 2 ? atoi(argv[2]) : 0;
  if (children == 0) burn(milliseconds);
  for (int i = 0; i < children; ++i) {
    if (fork() != 0) continue;
    burn(milliseconds);
    _exit(0);
  }
  int whole = 0;
  int status = 0;
  while (wait(&status) > 0) whole += status == 0 ? 1 : 0;
  return whole == children ? 0 : 1;
}
