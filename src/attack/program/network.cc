// Reaching anything beyond a private loopback, and daemons that would act for us.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"
#include "attack/program/reach.h"

namespace sallyport::attacks {
namespace {

// A DNS question for a name that carries a message in its first label.
constexpr std::string_view kQuestion("\x12\x34\x01\0\0\x01\0\0\0\0\0\0\6secret\7example\0\0\1\0\1", 32);

void by_tcp(std::string_view text) {
  const int fd = connect_to(loopback(arg_number("tcp")));
  if (fd >= 0) say(fd, text);
}

void by_mapped_tcp() {
  const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<in_port_t>(arg_number("tcp")));
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) say(fd, "hello");
}

void by_udp(std::string_view text) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(arg_number("udp"));
  sendto(fd, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// The first bytes in the packet that asks for the connection.
void by_fast_open() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(arg_number("tcp"));
  sendto(fd, "hello", 5, MSG_FASTOPEN | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

void by_mapped_udp() {
  const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<in_port_t>(arg_number("udp")));
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
  sendto(fd, "hello", 5, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// `name` is a path, or starts with "@" for the abstract namespace.
void by_unix(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  if (name.starts_with('@')) address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) say(fd, "hello");
}

void inherited_socket() {
  constexpr int kHighest = 256;
  for (int fd = 3; fd < kHighest; ++fd) say(fd, "hello");
}

void see_interfaces() {
  FILE* const devices = fopen("/proc/net/dev", "re");
  if (devices == nullptr) return;
  char line[512];
  while (fgets(line, sizeof line, devices) != nullptr) {
    char* const colon = strchr(line, ':');
    if (colon == nullptr) continue;
    *colon = '\0';
    effect(line + strspn(line, " "));
  }
  fclose(devices);
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"tcp_loopback", [] { by_tcp("hello"); }},
    Entry{"tcp_loopback_v6", by_mapped_tcp},
    Entry{"udp_loopback", [] { by_udp("hello"); }},
    Entry{"abstract_socket", [] { by_unix(arg("abstract")); }},
    Entry{"inherited_socket", inherited_socket},
    Entry{"see_interfaces", see_interfaces},
    Entry{"dns_query", [] { by_udp(kQuestion); }},
    Entry{"dns_over_tcp", [] { by_tcp(kQuestion); }},
    // The same where one host may be reached.
    Entry{"egress_by_address", [] { by_tcp("hello"); }},
    Entry{"egress_by_mapped_address", by_mapped_tcp},
    Entry{"egress_allowed_port", [] { by_tcp("hello"); }},
    Entry{"egress_fast_open", by_fast_open},
    Entry{"egress_udp", [] { by_udp("hello"); }},
    Entry{"egress_mapped_udp", by_mapped_udp},
    Entry{"egress_abstract_socket", [] { by_unix(arg("abstract")); }},
    Entry{"egress_inherited_socket", inherited_socket},
    Entry{"egress_dns_udp", [] { by_udp(kQuestion); }},
    Entry{"egress_dns_tcp", [] { by_tcp(kQuestion); }},
    Entry{"docker_socket", [] { by_unix(arg("home_socket")); }},
    Entry{"ssh_agent", [] { by_unix(arg("tmp_socket")); }},
    Entry{"session_bus", [] { by_unix(arg("abstract")); }},
});

}  // namespace

std::span<const Entry> network_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
