// One accepted connection, from its first byte to its last.
//
//   check the client's bytes -> resolve and connect -> relay both ways -> gone
//          \-> refused: goodbye, or reset
//
// A connection on a port its rule names (ConnectionCheck::kByAddress) connects at once, because the server may have to
// speak first; its client's bytes are checked all the same before they are passed on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "egress/client_stream.h"
#include "egress/farewell.h"
#include "egress/guest.h"
#include "egress/run.h"
#include "egress/upstream_search.h"

namespace sallyport {

class Connection final : public Guest {
 public:
  // `reserve` is a descriptor kept free for the server's socket: a client is let in only when there is one.
  // `gone` is called once, when both sockets are closed; the object may be destroyed after the events at hand.
  Connection(EgressRun& run, UniqueFd client, UniqueFd reserve, ClientStream::Place place, std::size_t rule,
             std::function<void()> gone);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() override;
  void ready(int fd, std::uint32_t events) override;
  void last_round() override;

 private:
  enum class State { kOpen, kGoodbye, kGone };

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
  void advance_goodbye();
  void drop_server();
  void take_room();
  void give_room_back();
  void abort();
  void close();

  EgressRun& run_;
  const std::size_t rule_;
  std::function<void()> gone_;
  State state_ = State::kOpen;

  UniqueFd client_;
  Watch client_watch_{};
  UniqueFd reserve_;
  UniqueFd server_{};
  Watch server_watch_{};

  ClientStream up_;
  Relay down_;
  std::uint64_t seen_ = 0;  // of the server's bytes: seen by up_, not yet read by down_
  bool up_ended_ = false;
  bool down_ended_ = false;
  bool server_deaf_ = false;  // writes to it fail; what it sent before is still delivered
  bool seeking_ = false;
  bool roomy_ = false;
  std::unique_ptr<UpstreamSearch> search_{};

  Farewell farewell_{};
  Timer client_timer_{};
  Timer timer_{};  // of the goodbye
  Timer turn_{};   // to go on without an event
};

}  // namespace sallyport
