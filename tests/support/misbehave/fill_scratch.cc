// fill_scratch: fills /tmp with a file that has no name any more, and stays.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main() {
  const int fd = open("/tmp/filler", O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0) return 2;
  unlink("/tmp/filler");
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  while (write(fd, block, sizeof block) > 0) {
  }
  for (;;) pause();
}
