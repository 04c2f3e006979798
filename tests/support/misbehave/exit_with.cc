// exit_with CODE: leaves with that code and prints nothing.
#include <stdlib.h>

int main(int argc, char** argv) { return argc > 1 ? atoi(argv[1]) : 0; }
