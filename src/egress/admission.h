// Decides which connections to let in: accepts them, recovers the wanted address, and checks the address book and the
// rules.
//
// At most `limit` connections at once. At the limit, or without a free descriptor, it accepts nothing until one ends:
// the tool waits in the kernel's queue, as for a busy server; no connection is refused for this reason.
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
  // True when another connection can be let in. `any` is any descriptor of the caller.
  [[nodiscard]] bool has_room(int any);
  // Takes a connection that came from no listener; only while there is room. False: it was denied.
  bool take(UniqueFd client, const Endpoint& wanted);
  // Each connection moves the bytes that are there, then all are closed.
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
