#include "attack/listeners.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "core/errors.h"

namespace sallyport::attack {
namespace {

constexpr int kBacklog = 4;

Result<UniqueFd> listen_at(const sockaddr* address, socklen_t size, int type, std::string_view subject) {
  UniqueFd fd(::socket(address->sa_family, type | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), address, size) != 0) return fail(system_error("bind", subject, errno));
  if (type != SOCK_DGRAM && ::listen(fd.get(), kBacklog) != 0) return fail(system_error("listen at", subject, errno));
  return fd;
}

// `name` starts with a NUL for the abstract namespace.
Result<UniqueFd> listen_on_unix(const std::string& name, std::string_view subject, int type = SOCK_STREAM) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) return fail(system_error("bind", subject, ENAMETOOLONG));
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return listen_at(reinterpret_cast<const sockaddr*>(&address), size, type, subject);
}

}  // namespace

Result<UniqueFd> listen_on_loopback(int type, std::uint16_t& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  UniqueFd fd = TRY(listen_at(generic, sizeof address, type, "loopback"));
  socklen_t size = sizeof address;
  if (::getsockname(fd.get(), generic, &size) != 0) return fail(system_error("name", "loopback", errno));
  port = ntohs(address.sin_port);
  return fd;
}

Result<Listeners> Listeners::open(const std::vector<std::filesystem::path>& sockets_at,
                                  const std::string& abstract_name) {
  Listeners listeners;
  listeners.ears_.push_back(TRY(listen_on_loopback(SOCK_STREAM, listeners.tcp_port_)));
  listeners.ears_.push_back(TRY(listen_on_loopback(SOCK_DGRAM, listeners.udp_port_)));
  listeners.ears_.push_back(TRY(listen_on_unix(std::string(1, '\0') + abstract_name, abstract_name)));
  for (const std::filesystem::path& path : sockets_at) {
    listeners.ears_.push_back(TRY(listen_on_unix(path.native(), path.native())));
  }
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0)
    return fail(system_error("make", "a socket pair", errno));
  listeners.ears_.emplace_back(pair[0]);
  listeners.leaked_ = UniqueFd(pair[1]);
  ::fcntl(pair[0], F_SETFD, FD_CLOEXEC);
  return listeners;
}

Status Listeners::add_unix(const std::filesystem::path& path, int type) {
  ears_.push_back(TRY(listen_on_unix(path.native(), path.native(), type)));
  return {};
}

bool Listeners::heard() const {
  std::vector<pollfd> watched;
  for (const UniqueFd& ear : ears_) watched.push_back({.fd = ear.get(), .events = POLLIN, .revents = 0});
  return ::poll(watched.data(), watched.size(), 0) > 0;
}

}  // namespace sallyport::attack
