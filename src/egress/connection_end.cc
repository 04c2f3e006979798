// The ways a connection ends.
#include <sys/socket.h>

#include "egress/connection.h"

namespace sallyport {

void Connection::refuse(const Refusal& refusal) {
  const ClientStream::Place& place = up_.place();
  run_.denials.add(refusal.host.empty() ? std::string_view(place.name) : refusal.host, place.port, refusal.reason,
                   refusal.address_class);
  const bool readable = !refusal.goodbye.empty() && up_.may_answer() && !down_.in_flight() && !down_ended_;
  if (!readable) return abort();
  say_goodbye(refusal.goodbye);
}

void Connection::say_goodbye(std::string text) {
  state_ = State::kGoodbye;
  drop_server();
  client_timer_.reset();
  turn_.reset();
  farewell_.say(std::move(text));
  timer_ = run_.loop->after(run_.timeouts.goodbye, [this] { close(); });
  advance_goodbye();
}

void Connection::advance_goodbye() {
  switch (farewell_.advance(client_.get(), run_.buffer)) {
    case Farewell::State::kWaiting:
      return;
    case Farewell::State::kClosed:
      return close();
    case Farewell::State::kReset:
      return abort();
  }
}

void Connection::drop_server() {
  if (search_) search_->cancel();
  reserve_.reset();
  server_watch_.reset();
  close_with_reset(std::move(server_));
}

void Connection::abort() {
  if (state_ == State::kGone) return;
  drop_server();
  client_watch_.reset();
  close_with_reset(std::move(client_));
  close();
}

void Connection::give_room_back() {
  if (roomy_) --run_.roomy_connections;
  roomy_ = false;
}

void Connection::close() {
  if (state_ == State::kGone) return;
  state_ = State::kGone;
  give_room_back();
  if (search_) search_->cancel();
  reserve_.reset();
  server_watch_.reset();
  server_.reset();
  client_watch_.reset();
  client_.reset();
  client_timer_.reset();
  timer_.reset();
  turn_.reset();
  gone_();
}

}  // namespace sallyport
