#include "egress/test_net.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/netlink.h"

namespace sallyport::test {
namespace {

constexpr int kBacklog = 1024;

UniqueFd netlink_socket(std::uint32_t protocol) {
  return UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, static_cast<int>(protocol)));
}

bool send_to_kernel(const UniqueFd& netlink, const NetlinkDatagram& message) {
  std::array<char, 8192> answer{};
  if (::send(netlink.get(), message.bytes.data(), message.bytes.size(), 0) < 0) return false;
  const ssize_t got = ::recv(netlink.get(), answer.data(), answer.size(), 0);
  if (got < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(int))) return false;
  int error = 0;
  std::memcpy(&error, answer.data() + sizeof(nlmsghdr), sizeof error);
  return error == 0;
}

bool send_to_kernel(const NetlinkDatagram& message) {
  return send_to_kernel(netlink_socket(message.protocol), message);
}

bool bring_up_loopback() {
  ifreq lo{};
  std::string_view("lo").copy(lo.ifr_name, sizeof lo.ifr_name);
  lo.ifr_flags = IFF_UP;
  const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return ::ioctl(any.get(), SIOCSIFFLAGS, &lo) == 0;
}

bool make_every_address_local() {
  return bring_up_loopback() && send_to_kernel(local_route(false)) && send_to_kernel(local_route(true));
}

UniqueFd own_namespace() { return UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }

void must(bool so) {
  if (!so) std::abort();
}

UniqueFd bound(UniqueFd fd, bool v6, std::uint16_t port) {
  const int on = 1;
  if (v6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const SocketAddress any = socket_address({.address = {.v6 = v6}, .port = port});
  must(::bind(fd.get(), any.get(), any.length) == 0);
  return fd;
}

}  // namespace

bool enter_outside() {
  static const bool entered = [] {
    const bool made = ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    return made && make_every_address_local();
  }();
  return entered;
}

JailNet::JailNet() : outside_(own_namespace()) {
  must(::unshare(CLONE_NEWNET) == 0);
  inside_ = own_namespace();
  must(make_every_address_local());
  must(::setns(outside_.get(), CLONE_NEWNET) == 0);
}

UniqueFd JailNet::socket(bool v6, int type) const {
  must(::setns(inside_.get(), CLONE_NEWNET) == 0);
  UniqueFd fd(::socket(v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0));
  must(::setns(outside_.get(), CLONE_NEWNET) == 0 && fd);
  use_deadline(fd.get());
  return fd;
}

UniqueFd JailNet::listener(bool v6, std::uint16_t port) const {
  UniqueFd fd = bound(socket(v6, SOCK_STREAM), v6, port);
  must(::listen(fd.get(), kBacklog) == 0);
  return fd;
}

UniqueFd JailNet::udp(bool v6, std::uint16_t port) const { return bound(socket(v6, SOCK_DGRAM), v6, port); }

UniqueFd JailNet::connect(const Endpoint& to) const {
  UniqueFd fd = socket(to.address.v6, SOCK_STREAM);
  const SocketAddress address = socket_address(to);
  if (::connect(fd.get(), address.get(), address.length) != 0) return UniqueFd();
  return fd;
}

bool JailNet::redirect_other_ports(const std::vector<std::uint16_t>& listening, std::uint16_t catch_all) const {
  must(::setns(inside_.get(), CLONE_NEWNET) == 0);
  const bool sent = send_to_kernel(sallyport::redirect_other_ports(listening, catch_all));
  must(::setns(outside_.get(), CLONE_NEWNET) == 0);
  return sent;
}

UniqueFd JailNet::refuse_at_once(const std::vector<std::uint16_t>& listening) const {
  must(::setns(inside_.get(), CLONE_NEWNET) == 0);
  UniqueFd shown = netlink_socket(NETLINK_NETFILTER);
  const bool sent = send_to_kernel(shown, show_refusals()) && send_to_kernel(sallyport::refuse_at_once(listening));
  must(::setns(outside_.get(), CLONE_NEWNET) == 0);
  return sent ? std::move(shown) : UniqueFd();
}

bool JailNet::prohibit_groups() const {
  must(::setns(inside_.get(), CLONE_NEWNET) == 0);
  const bool sent =
      send_to_kernel(sallyport::prohibit_groups(false)) && send_to_kernel(sallyport::prohibit_groups(true));
  must(::setns(outside_.get(), CLONE_NEWNET) == 0);
  return sent;
}

Endpoint at(std::string_view address, std::uint16_t port) {
  const std::optional<IpAddress> parsed = parse_ip_address(address);
  must(parsed.has_value());
  return {.address = *parsed, .port = port};
}

void use_deadline(int fd) {
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

Received receive(int fd, std::size_t count) {
  Received received;
  std::array<char, 65536> buffer{};
  while (received.bytes.size() < count) {
    const ssize_t got = ::recv(fd, buffer.data(), std::min(buffer.size(), count - received.bytes.size()), 0);
    if (got < 0) received.error = errno;
    if (got == 0) received.ended = true;
    if (got <= 0) break;
    received.bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return received;
}

std::string receive_until(int fd, std::string_view end) {
  std::string bytes;
  while (!bytes.ends_with(end)) {
    const Received one = receive(fd, 1);
    if (one.bytes.empty()) break;
    bytes += one.bytes;
  }
  return bytes;
}

Server::Server(std::function<void(int)> serve, const Endpoint& where) : serve_(std::move(serve)) {
  listener_ = UniqueFd(::socket(where.address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener_.get(), IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);  // for IPv6 a local route is not enough
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const SocketAddress address = socket_address(where);
  must(::bind(listener_.get(), address.get(), address.length) == 0 && ::listen(listener_.get(), kBacklog) == 0);
  where_ = *local_endpoint(listener_.get());
  acceptor_ = std::thread([this] { accept_all(); });
}

Server::~Server() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

void Server::wait() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (open_.empty()) return;
    }
    std::this_thread::yield();
  }
}

void Server::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0 && errno == EMFILE) {  // a test about descriptors; they come back
      std::this_thread::yield();
      continue;
    }
    if (fd < 0) return;
    use_deadline(fd);
    ++accepted_;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    threads_.emplace_back([this, fd] {
      serve_(fd);
      const std::lock_guard inner(mutex_);
      ::close(fd);
      std::erase(open_, fd);
    });
  }
}

Recorder::Recorder(std::string answer, const Endpoint& where)
    : answer_(std::move(answer)),
      server_(
          [this](int fd) {
            send_all(fd, answer_);
            for (Received part; !(part = receive(fd, 1)).bytes.empty();) {
              const std::lock_guard lock(mutex_);
              received_ += part.bytes;
            }
          },
          where) {}

std::string Recorder::received_at_end() {
  server_.wait();
  return received();
}

std::string Recorder::received() {
  const std::lock_guard lock(mutex_);
  return received_;
}

}  // namespace sallyport::test
