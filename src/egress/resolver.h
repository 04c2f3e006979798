// Resolves names in the parent, for connections that passed their check: c-ares on our loop, so that no lookup blocks
// another connection. It follows /etc/resolv.conf, /etc/nsswitch.conf and /etc/hosts as glibc does. c-ares itself reads
// RES_OPTIONS and LOCALDOMAIN from our environment (the operator's, never the tool's).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "egress/endpoint.h"
#include "egress/loop.h"

// NOLINTBEGIN(readability-identifier-naming): c-ares calls them so
struct ares_addrinfo;
struct ares_channeldata;
// NOLINTEND(readability-identifier-naming)

namespace sallyport {

class Resolver final : public Watcher {
 public:
  // Empty: the name has no address, or the lookup failed.
  using Done = std::function<void(std::span<const IpAddress>)>;

  // The caller wants the answer as long as this lives.
  class Request {
   public:
    Request() = default;
    Request(Resolver* resolver, std::string name, std::uint64_t id)
        : resolver_(resolver), name_(std::move(name)), id_(id) {}
    Request(Request&& other) noexcept
        : resolver_(std::exchange(other.resolver_, nullptr)), name_(std::move(other.name_)), id_(other.id_) {}
    Request& operator=(Request&& other) noexcept;
    ~Request() { reset(); }
    void reset();

   private:
    Resolver* resolver_ = nullptr;
    std::string name_{};
    std::uint64_t id_ = 0;
  };

  // `nameserver` replaces those of resolv.conf.
  Resolver(Loop& loop, std::optional<Endpoint> nameserver) : loop_(loop), nameserver_(nameserver) {}
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver() override;

  // May answer before it returns. Many connections that want the same name share one lookup.
  [[nodiscard]] Request resolve(const std::string& name, Done done);

  void ready(int fd, std::uint32_t events) override;

 private:
  struct Lookup {
    Resolver* resolver = nullptr;
    bool under_way = false;
    std::vector<IpAddress> addresses{};
    Timer::Clock::time_point fresh_until{};
    std::vector<std::pair<std::uint64_t, Done>> waiting{};
  };
  using Lookups = std::unordered_map<std::string, Lookup>;

  [[nodiscard]] bool open_channel();
  void forget_old_answers();
  void begin(const std::string& name, Lookup& lookup);
  static void on_answer(void* lookup, int status, int timeouts, ares_addrinfo* answer);
  static void on_socket(void* resolver, int fd, int readable, int writable);
  static void deliver(Lookup& lookup);
  void arm_timer();
  void cancel(const std::string& name, std::uint64_t id);

  Loop& loop_;
  std::optional<Endpoint> nameserver_;
  Lookups lookups_{};  // an unordered_map's nodes stay where they are: c-ares holds pointers to them
  std::uint64_t next_id_ = 1;
  std::unordered_map<int, Watch> watches_{};
  Timer timer_{};
  ares_channeldata* channel_ = nullptr;  // made for the first lookup, so a run without connections pays nothing
  bool closing_ = false;
};

}  // namespace sallyport
