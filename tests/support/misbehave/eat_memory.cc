// eat_memory MIB: takes that much memory, a mebibyte at a time, and touches every page of it.
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const int mebibytes = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < mebibytes; ++i) {
    void* const block = malloc(1 << 20);
    if (block == nullptr) return 1;
    memset(block, 1, 1 << 20);
  }
  return 0;
}
