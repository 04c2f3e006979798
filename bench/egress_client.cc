// The tool of the egress benchmark, the same bare and jailed. Prints one number: milliseconds, the lookup left out.
//
//   usage: bench-client down|up HOST PORT BYTES    one connection
//          bench-client ask HOST PORT COUNT        connect, one byte there, one byte back; the median of COUNT
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "bench/egress_protocol.h"

namespace {

using namespace sallyport::bench;

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in look_up(const char* host, const char* port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host, port, &hints, &found) != 0) give_up(host);
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  ::freeaddrinfo(found);
  return address;
}

int connect_to(const sockaddr_in& address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  do_not_pace(fd);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) give_up("connect");
  return fd;
}

void exchange(const sockaddr_in& address, std::uint64_t /*count*/) {
  const int fd = connect_to(address);
  char byte = kAsk;
  if (::send(fd, &byte, 1, 0) != 1 || ::recv(fd, &byte, 1, 0) != 1) give_up("ask");
  ::close(fd);
}

void download(const sockaddr_in& address, std::uint64_t bytes) {
  const int fd = connect_to(address);
  if (!send_order(fd, kDown, bytes) || receive_bytes(fd, bytes) != bytes) give_up("download");
  ::close(fd);
}

void upload(const sockaddr_in& address, std::uint64_t bytes) {
  const int fd = connect_to(address);
  char done = 0;
  if (!send_order(fd, kUp, bytes) || !send_bytes(fd, bytes) || ::recv(fd, &done, 1, 0) != 1) give_up("upload");
  ::close(fd);
}

double milliseconds_of(void (*deed)(const sockaddr_in&, std::uint64_t), const sockaddr_in& address,
                       std::uint64_t count) {
  const auto start = std::chrono::steady_clock::now();
  deed(address, count);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::string_view what = argv[1];
  const sockaddr_in address = look_up(argv[2], argv[3]);
  const std::uint64_t count = std::strtoull(argv[4], nullptr, 10);
  if (what == "ask") {
    std::vector<double> times;
    for (std::uint64_t i = 0; i < count; ++i) times.push_back(milliseconds_of(exchange, address, 1));
    std::ranges::sort(times);
    std::printf("%.4f\n", times[times.size() / 2]);
  } else {
    std::printf("%.4f\n", milliseconds_of(what == "down" ? download : upload, address, count));
  }
  return 0;
}
