// print_args ARGS…: each argument on a line of its own, in brackets.
#include <stdio.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) printf("[%s]\n", argv[i]);
  return 0;
}
