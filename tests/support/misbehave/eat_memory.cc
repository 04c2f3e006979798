// eat_memory MIB: takes that much memory, a mebibyte at a time, and touches every page of it.
#include <stdlib.h>

int main(int argc, char** argv) {
  const int mebibytes = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < mebibytes; ++i) {
    // Volatile, or the compiler sees that nobody reads it and takes nothing.
    volatile char* const block = static_cast<volatile char*>(malloc(1 << 20));
    if (block == nullptr) return 1;
    for (int at = 0; at < 1 << 20; at += 4096) block[at] = 1;
  }
  return 0;
}
