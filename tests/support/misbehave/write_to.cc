// write_to PATH: writes into what is already there, a pipe perhaps, which must have a reader.
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int fd = open(argv[1], O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  return fd >= 0 && write(fd, "was here", 8) == 8 ? 0 : 1;
}
