// print_hex HEX [HEX]: the bytes of the first word on stdout, of the second on stderr.
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace {

void print(int fd, const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(strtoul(hex.substr(i, 2).c_str(), nullptr, 16)));
  }
  (void)!write(fd, bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) print(1, argv[1]);
  if (argc > 2) print(2, argv[2]);
  return 0;
}
