// DNS over TCP: each message after its length, several on one connection. Bounded in every way: connections, idle time,
// queries of a connection, bytes of a query.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "egress/run.h"

namespace sallyport {

class DnsTcpConnection;

class DnsTcp final : public Watcher {
 public:
  static constexpr std::size_t kMostConnections = 32;

  explicit DnsTcp(EgressRun& run);
  ~DnsTcp() override;
  DnsTcp(const DnsTcp&) = delete;
  DnsTcp& operator=(const DnsTcp&) = delete;

  [[nodiscard]] Status serve_on(UniqueFd listener);
  void ready(int fd, std::uint32_t events) override;
  [[nodiscard]] bool has_room() const { return connections_.size() < kMostConnections; }
  // Takes a connection that came from no listener; only while there is room.
  void take(UniqueFd client);
  void close_all();

 private:
  struct Listener {
    UniqueFd fd{};
    Watch watch{};
  };
  void pause();
  void resume();

  EgressRun& run_;
  std::vector<Listener> listeners_{};
  std::list<std::unique_ptr<DnsTcpConnection>> connections_;
  bool paused_ = false;
  Timer retry_{};
};

}  // namespace sallyport
