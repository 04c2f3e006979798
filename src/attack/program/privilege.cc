// Gaining or holding privilege.
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

bool holds_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[2] = {};
  if (syscall(SYS_capget, &header, held) != 0) return false;
  return (held[0].effective | held[0].permitted | held[1].effective | held[1].permitted) != 0;
}

void become(const std::string& program, const char* part) {
  const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC);
  constexpr uid_t kNobodyInParticular = 12345;
  // Root first becomes a user without this right; in a jail this fails and changes nothing.
  if (strcmp(part, "print_capabilities") == 0 &&
      setresuid(kNobodyInParticular, kNobodyInParticular, kNobodyInParticular) != 0 && geteuid() == 0) {
    return;
  }
  char name[] = "sallyport-attack";
  char* const argv[] = {name, const_cast<char*>(part), nullptr};
  char* const environment[] = {nullptr};
  fexecve(fd, argv, environment);
}

void raise_priority() {
  constexpr int kMoreUrgent = -5;
  if (setpriority(PRIO_PROCESS, 0, kMoreUrgent) == 0) broken();
}

void raw_socket() {
  if (geteuid() != 0) unshare(CLONE_NEWUSER | CLONE_NEWNET);
  if (socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0) broken();
}

void route_add() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 && geteuid() == 0) return;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  char loopback[IFNAMSIZ] = "lo";
  ifreq request{};
  memcpy(request.ifr_name, loopback, sizeof loopback);
  request.ifr_flags = IFF_UP;
  ioctl(fd, SIOCSIFFLAGS, &request);
  rtentry route{};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x0AFFFF00);
  memcpy(&route.rt_dst, &address, sizeof address);
  address.sin_addr.s_addr = htonl(0xFFFFFF00);
  memcpy(&route.rt_genmask, &address, sizeof address);
  route.rt_flags = RTF_UP;
  route.rt_dev = loopback;
  if (ioctl(fd, SIOCADDRT, &route) == 0) broken();
}

constexpr auto kDeeds = std::to_array<Entry>({
    Entry{"setuid_program", [] { become(arg("repo") + "/setuid-copy", "print_user"); }},
    Entry{"file_capabilities", [] { become(arg("repo") + "/caps-copy", "print_capabilities"); }},
    Entry{"print_user",
          [] {
            if (geteuid() != getuid()) broken();
          }},
    Entry{"print_capabilities",
          [] {
            if (holds_capabilities()) broken();
          }},
    Entry{"hold_capabilities",
          [] {
            if (holds_capabilities()) broken();
          }},
    Entry{"raise_priority", raise_priority},
    Entry{"raw_socket", raw_socket},
    Entry{"route_add", route_add},
});

}  // namespace

std::span<const Entry> privilege_deeds() { return kDeeds; }

}  // namespace sallyport::attacks
