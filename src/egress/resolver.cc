#include "egress/resolver.h"

#include <ares.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "egress/dns_sockets.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostKept = 1024;
constexpr std::chrono::seconds kLongestKept = 60s;
constexpr std::chrono::seconds kFailureKept = 1s;
constexpr std::chrono::milliseconds kTryFor = 2s;
constexpr int kTries = 3;

std::vector<IpAddress> addresses_of(const ares_addrinfo& answer) {
  std::vector<IpAddress> addresses;
  for (const ares_addrinfo_node* node = answer.nodes; node != nullptr; node = node->ai_next) {
    if (const std::optional<Endpoint> endpoint = endpoint_of(node->ai_addr)) {
      if (std::ranges::find(addresses, endpoint->address) == addresses.end()) addresses.push_back(endpoint->address);
    }
  }
  return addresses;
}

std::chrono::seconds shortest_life(const ares_addrinfo& answer) {
  std::chrono::seconds life = kLongestKept;
  for (const ares_addrinfo_node* node = answer.nodes; node != nullptr; node = node->ai_next) {
    life = std::min(life, std::chrono::seconds(std::max(node->ai_ttl, 0)));
  }
  return life;
}

}  // namespace

Resolver::Request& Resolver::Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    reset();
    resolver_ = std::exchange(other.resolver_, nullptr);
    name_ = std::move(other.name_);
    id_ = other.id_;
  }
  return *this;
}

void Resolver::Request::reset() {
  if (Resolver* const resolver = std::exchange(resolver_, nullptr)) resolver->cancel(name_, id_);
}

Resolver::~Resolver() {
  closing_ = true;
  if (channel_ != nullptr) ::ares_destroy(channel_);
}

bool Resolver::open_channel() {
  if (channel_ != nullptr) return true;
  ares_options options{};
  // Names are complete, and we ignore an alias file that the environment names.
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.timeout = static_cast<int>(kTryFor.count());
  options.tries = kTries;
  options.sock_state_cb = on_socket;
  options.sock_state_cb_data = this;
  const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
  if (::ares_init_options(&channel_, &options, mask) != ARES_SUCCESS) {
    channel_ = nullptr;
    return false;
  }
  use_cloexec_sockets(channel_);
  if (!nameserver_) return true;
  ares_addr_port_node server{};
  server.family = nameserver_->address.v6 ? AF_INET6 : AF_INET;
  std::memcpy(&server.addr, nameserver_->address.bytes.data(), nameserver_->address.v6 ? 16 : 4);
  server.udp_port = nameserver_->port;
  server.tcp_port = nameserver_->port;
  return ::ares_set_servers_ports(channel_, &server) == ARES_SUCCESS;
}

Resolver::Request Resolver::resolve(const std::string& name, Done done) {
  if (lookups_.size() >= kMostKept && !lookups_.contains(name)) forget_old_answers();
  Lookup& lookup = lookups_[name];
  if (!lookup.under_way && loop_.now() < lookup.fresh_until) {
    done(lookup.addresses);
    return {};
  }
  const std::uint64_t id = next_id_++;
  lookup.waiting.emplace_back(id, std::move(done));
  if (!lookup.under_way) begin(name, lookup);
  return {this, name, id};
}

void Resolver::forget_old_answers() {
  std::erase_if(lookups_, [](const auto& entry) { return !entry.second.under_way; });
}

void Resolver::begin(const std::string& name, Lookup& lookup) {
  lookup.resolver = this;
  lookup.addresses.clear();
  lookup.fresh_until = loop_.now() + kFailureKept;
  lookup.under_way = true;
  if (!open_channel()) return deliver(lookup);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NOSORT;  // sorting opens sockets; we try every address anyway
  ::ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, on_answer, &lookup);
  arm_timer();
}

void Resolver::on_answer(void* argument, int status, int /*timeouts*/, ares_addrinfo* answer) {
  Lookup& lookup = *static_cast<Lookup*>(argument);
  if (status == ARES_SUCCESS && answer != nullptr) {
    lookup.addresses = addresses_of(*answer);
    lookup.fresh_until = lookup.resolver->loop_.now() + shortest_life(*answer);
  }
  if (answer != nullptr) ::ares_freeaddrinfo(answer);
  if (!lookup.resolver->closing_) deliver(lookup);
}

void Resolver::deliver(Lookup& lookup) {
  // One at a time: one waiter may cancel another.
  while (!lookup.waiting.empty()) {
    const Done done = std::move(lookup.waiting.back().second);
    lookup.waiting.pop_back();
    done(lookup.addresses);
  }
  lookup.under_way = false;
}

void Resolver::on_socket(void* argument, int fd, int readable, int writable) {
  Resolver& resolver = *static_cast<Resolver*>(argument);
  const std::uint32_t events = (readable != 0 ? EPOLLIN : 0U) | (writable != 0 ? EPOLLOUT : 0U);
  if (events == 0) {
    resolver.watches_.erase(fd);
    return;
  }
  if (const auto known = resolver.watches_.find(fd); known != resolver.watches_.end()) {
    known->second.change(events);
  } else if (Result<Watch> watch = resolver.loop_.watch(fd, events, resolver)) {
    resolver.watches_.emplace(fd, std::move(*watch));  // otherwise its query times out
  }
}

void Resolver::ready(int fd, std::uint32_t events) {
  const bool trouble = (events & (EPOLLERR | EPOLLHUP)) != 0;
  ::ares_process_fd(channel_, trouble || (events & EPOLLIN) != 0 ? fd : ARES_SOCKET_BAD,
                    trouble || (events & EPOLLOUT) != 0 ? fd : ARES_SOCKET_BAD);
  arm_timer();
}

void Resolver::arm_timer() {
  timeval wait{};
  if (::ares_timeout(channel_, nullptr, &wait) == nullptr) return timer_.reset();
  const auto delay = std::chrono::seconds(wait.tv_sec) + std::chrono::microseconds(wait.tv_usec);
  timer_ = loop_.after(std::chrono::ceil<std::chrono::milliseconds>(delay), [this] {
    ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    arm_timer();
  });
}

void Resolver::cancel(const std::string& name, std::uint64_t id) {
  if (const auto found = lookups_.find(name); found != lookups_.end()) {
    std::erase_if(found->second.waiting, [id](const auto& waiter) { return waiter.first == id; });
  }
}

}  // namespace sallyport
