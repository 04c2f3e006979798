// sleep_tree [MARKER…]: a child and a grandchild, all three deaf to SIGTERM, all with this command line.
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

int main() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_IGN);
  int ready[2];
  if (pipe(ready) != 0) return 1;
  if (fork() == 0) {
    if (fork() == 0) (void)!write(ready[1], "x", 1);
    for (;;) pause();
  }
  char byte = 0;
  (void)!read(ready[0], &byte, 1);
  (void)!write(1, "ready\n", 6);
  for (;;) pause();
}
