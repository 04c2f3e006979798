// eat_memory MIB [CODE]: takes that much memory, a mebibyte at a time, and touches every page of it. With a CODE a child does,
// and the program itself exits with that code whatever becomes of the child.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int eat(int mebibytes) {
  for (int i = 0; i < mebibytes; ++i) {
    // Volatile, or the compiler sees that nobody reads it and takes nothing.
    volatile char* const block = static_cast<volatile char*>(malloc(1 << 20));
    if (block == nullptr) return 1;
    for (int at = 0; at < 1 << 20; at += 4096) block[at] = 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const int mebibytes = argc > 1 ? atoi(argv[1]) : 0;
  if (argc < 3) return eat(mebibytes);
  if (fork() == 0) _exit(eat(mebibytes));
  while (wait(nullptr) > 0) {
  }
  return atoi(argv[2]);
}
