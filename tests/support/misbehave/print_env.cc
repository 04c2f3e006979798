// print_env: every variable this process was given, one a line.
#include <stdio.h>
#include <unistd.h>

int main() {
  for (char** entry = environ; *entry != nullptr; ++entry) puts(*entry);
  return 0;
}
