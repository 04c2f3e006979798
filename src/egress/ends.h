// The two sockets of a connection, the client's and the server's, and the ways in which both end: with a last message
// to the client, by a reset, or by a plain close.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "egress/farewell.h"
#include "egress/run.h"
#include "egress/upstream_search.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

class Ends {
 public:
  enum class State { kOpen, kGoodbye, kGone };

  // `reserve` is a descriptor kept for the server's socket: we let a client in only when we have one. `gone` is called
  // once, when both sockets are closed.
  Ends(EgressRun& run, UniqueFd client, UniqueFd reserve, std::function<void()> gone);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool is_open() const { return state_ == State::kOpen; }
  [[nodiscard]] int client() const { return client_.get(); }
  [[nodiscard]] int server() const { return server_.get(); }  // negative before there is one
  [[nodiscard]] bool has_server() const { return static_cast<bool>(server_); }

  // Watches both directions. On failure it resets both ends and returns false.
  [[nodiscard]] bool watch_client(Watcher& watcher);
  [[nodiscard]] bool take_server(UniqueFd server, Watcher& watcher);

  // Calls `found` at most once, and not after the end.
  void seek_server(UpstreamSearch::Wanted wanted, std::function<void(UpstreamSearch::Found)> found);

  // Drops the server at once, and the client when it has read `text` or its time is over.
  void say_goodbye(std::string text);
  void advance_goodbye();
  void abort();
  void close();

 private:
  void drop_server();

  EgressRun& run_;
  std::function<void()> gone_;
  State state_ = State::kOpen;
  UniqueFd client_;
  Watch client_watch_{};
  UniqueFd reserve_;
  UniqueFd server_{};
  Watch server_watch_{};
  std::unique_ptr<UpstreamSearch> search_{};
  Farewell farewell_{};
  Timer timer_{};  // for the goodbye
};

}  // namespace sallyport
