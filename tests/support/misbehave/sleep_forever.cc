// sleep_forever [MARKER…]: ignores every polite way to end, says "ready", then sleeps until killed.
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

int main() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  (void)!write(1, "ready\n", 6);
  for (;;) pause();
}
