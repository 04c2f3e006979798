// Who is let in: accepts, recovers the wanted address, and asks the address book and the rules.
//
// At most `limit` connections at once. Past it, or without a free descriptor, nothing is accepted until one ends: the
// kernel's queue makes the tool wait, which is what a busy server does; nothing is refused for it.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "egress/connection.h"
#include "egress/run.h"

namespace sallyport {

class Admission final : public Watcher {
 public:
  Admission(EgressRun& run, std::size_t limit) : run_(run), limit_(limit) {}

  enum class Kind { kDirect, kRedirected };
  [[nodiscard]] Status listen_on(UniqueFd listener, Kind kind);
  void ready(int fd, std::uint32_t events) override;
  // Another one can be let in. `any` is a descriptor of whoever asks.
  [[nodiscard]] bool has_room(int any);
  // One that came another way than by a listener; only while there is room.
  // False: it was denied.
  bool take(UniqueFd client, const Endpoint& wanted);
  // Each connection moves what is there, then all are closed.
  void close_all();

 private:
  struct Listener {
    UniqueFd fd{};
    Watch watch{};
    Kind kind = Kind::kDirect;
  };
  using Connections = std::list<std::unique_ptr<Guest>>;

  void accept_from(Listener& listener);
  bool admit(UniqueFd client, const std::optional<Endpoint>& wanted);
  bool deny(UniqueFd client, std::string_view host, std::uint16_t port, DenialReason reason);
  bool let_in(UniqueFd client, ClientStream::Place place, std::size_t rule);
  void pause();
  void resume();

  EgressRun& run_;
  const std::size_t limit_;
  std::list<Listener> listeners_{};
  Connections connections_{};
  UniqueFd reserve_{};  // the next connection's second descriptor
  bool paused_ = false;
  Timer retry_{};
};

}  // namespace sallyport
