// print_stdin: copies stdin to stdout until its end.
#include <unistd.h>

int main() {
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(0, buffer, sizeof buffer);
    if (got <= 0) return got == 0 ? 0 : 1;
    (void)!write(1, buffer, static_cast<size_t>(got));
  }
}
