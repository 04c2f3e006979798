// die_by_signal NUMBER: ends itself by that signal, with no core file.
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int number = argc > 1 ? atoi(argv[1]) : SIGKILL;
  signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  raise(number);
  return 99;
}
