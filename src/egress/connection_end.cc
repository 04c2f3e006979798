// The ways a connection ends.
#include <sys/socket.h>

#include <cerrno>

#include "core/errors.h"
#include "egress/connection.h"
#include "egress/socket_errors.h"

namespace sallyport {
namespace {

// Enough for what a client sends before it reads that it was refused; one that sends more gets a reset.
constexpr std::size_t kMostDrained = 1024 * 1024;

}  // namespace

void Connection::refuse(const Refusal& refusal) {
  const ClientStream::Place& place = up_.place();
  run_.denials.add(refusal.host.empty() ? std::string_view(place.name) : refusal.host, place.port, refusal.reason,
                   refusal.address_class);
  const bool readable = !refusal.goodbye.empty() && up_.may_answer() && !down_.in_flight() && !down_ended_;
  if (!readable) return abort();
  say_goodbye(refusal.goodbye);
}

// Closing with unread bytes is a reset, which may overtake our last words: so the client's bytes are read, and dropped,
// until it has had its time to read them.
void Connection::say_goodbye(std::string text) {
  state_ = State::kGoodbye;
  drop_server();
  client_timer_.reset();
  turn_.reset();
  goodbye_ = std::move(text);
  timer_ = run_.loop->after(run_.timeouts.goodbye, [this] { close(); });
  advance_goodbye();
}

void Connection::advance_goodbye() {
  while (goodbye_written_ < goodbye_.size()) {
    const ssize_t put =
        ::send(client_.get(), goodbye_.data() + goodbye_written_, goodbye_.size() - goodbye_written_, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && would_block(errno)) return;
    if (put < 0) return abort();
    goodbye_written_ += static_cast<std::size_t>(put);
  }
  ::shutdown(client_.get(), SHUT_WR);
  while (drained_ < kMostDrained) {
    const ssize_t got = ::recv(client_.get(), run_.buffer.data(), run_.buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && would_block(errno)) return;
    if (got <= 0) return close();
    drained_ += static_cast<std::size_t>(got);
  }
  abort();
}

void Connection::drop_server() {
  lookup_.reset();
  connecting_.reset();
  tunnel_.reset();
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
  lookup_.reset();
  connecting_.reset();
  tunnel_.reset();
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

void Connection::proxy_refused(const std::string& why) {
  run_.unreachable.add(up_.place().name, up_.place().port, why);
  abort();
}

void Connection::tell_unreachable(int error) const {
  run_.unreachable.add(up_.place().name, up_.place().port, errno_text(error));
}

}  // namespace sallyport
