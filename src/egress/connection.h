// One accepted connection, from its first byte to its last.
//
//   check the client's bytes -> resolve and connect -> relay both ways -> gone
//          \-> refused: goodbye, or reset
//
// A connection on a port its rule names (ConnectionCheck::kByAddress) connects at once, because the server may have to
// send first; it still checks the client's bytes before it passes them on.
#pragma once

#include <functional>
#include <string>

#include "egress/client_stream.h"
#include "egress/ends.h"
#include "egress/guest.h"
#include "egress/run.h"

namespace sallyport {

class Connection final : public Guest {
 public:
  // `reserve` and `gone`: as in Ends; the object may be destroyed after the current events.
  Connection(EgressRun& run, UniqueFd client, UniqueFd reserve, ClientStream::Place place, std::size_t rule,
             std::function<void()> gone);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() override;
  void ready(int fd, std::uint32_t events) override;
  void last_round() override;

 private:
  void advance();
  void advance_up();
  void advance_down();
  [[nodiscard]] std::uint64_t watch_server();
  void look_again(std::chrono::milliseconds delay);
  void set_client_timer();
  void seek_server();
  void use_found(UpstreamSearch::Found found);
  void refuse(const Refusal& refusal);
  void say_goodbye(std::string text);
  void take_room();
  void leave();

  EgressRun& run_;
  const std::size_t rule_;
  std::function<void()> gone_;
  Ends ends_;

  ClientStream up_;
  Relay down_;
  std::uint64_t seen_ = 0;  // how many of the server's bytes up_ has seen and down_ has not yet read
  bool up_ended_ = false;
  bool down_ended_ = false;
  bool server_deaf_ = false;  // writes to it fail; we still deliver what it sent before
  bool seeking_ = false;
  bool roomy_ = false;

  Timer client_timer_{};
  Timer turn_{};  // to continue without an event
};

}  // namespace sallyport
