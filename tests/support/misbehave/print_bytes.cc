// print_bytes COUNT [out|err]: that many bytes, byte i being 'a' + i % 26, so that a tail can be checked exactly.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>

int main(int argc, char** argv) {
  const unsigned long long total = argc > 1 ? strtoull(argv[1], nullptr, 10) : 0;
  const int fd = argc > 2 && strcmp(argv[2], "err") == 0 ? 2 : 1;
  std::array<char, 26 * 2520> block;
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>('a' + i % 26);
  unsigned long long written = 0;
  while (written < total) {
    const std::size_t from = written % block.size();
    const std::size_t want = std::min<unsigned long long>(block.size() - from, total - written);
    const ssize_t got = write(fd, block.data() + from, want);
    if (got < 0) return 1;
    written += static_cast<unsigned long long>(got);
  }
  return 0;
}
