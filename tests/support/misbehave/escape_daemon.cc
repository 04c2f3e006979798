// escape_daemon [MARKER…]: the classic double fork with setsid. The grandchild keeps our stdout open and stays; the
// first process leaves with code 0 as soon as the grandchild is in its own session.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

int main() {
  int ready[2];
  if (pipe(ready) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) {
      for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
      (void)!write(ready[1], "x", 1);
      for (;;) pause();
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  char byte = 0;
  (void)!read(ready[0], &byte, 1);
  (void)!write(1, "escaped\n", 8);
  return 0;
}
