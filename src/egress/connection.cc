#include "egress/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "egress/socket_errors.h"

namespace sallyport {
namespace {

// So many connections at once get buffers that the kernel sizes itself, megabytes each, which a long-distance download
// needs. Several hundred unread ones would take gigabytes.
constexpr std::size_t kMostRoomy = 16;
constexpr int kTightBuffer = 64 * 1024;  // doubled by the kernel, see socket(7)
constexpr int kRoomyUnsent = 2 * 1024 * 1024;

}  // namespace

Connection::Connection(EgressRun& run, UniqueFd client, UniqueFd reserve, ClientStream::Place place, std::size_t rule,
                       std::function<void()> gone)
    : run_(run),
      rule_(rule),
      gone_(std::move(gone)),
      ends_(run, std::move(client), std::move(reserve), [this] { leave(); }),
      up_(std::move(place), run.budgets[rule].up, run.pipes, run.buffer),
      down_(run.pipes, run.buffer) {}

void Connection::start() {
  if (!ends_.watch_client(*this)) return;
  send_at_once(ends_.client());
  take_room();
  advance();
}

void Connection::take_room() {
  roomy_ = run_.roomy_connections < kMostRoomy;
  if (roomy_) {
    ++run_.roomy_connections;
  } else {
    bound_buffers(ends_.client(), kTightBuffer);
  }
}

void Connection::ready(int fd, std::uint32_t events) {
  if (ends_.state() == Ends::State::kGone) return;
  // A client's reset ends everything. After a server's reset we first read what it sent before.
  if (fd == ends_.client() && (events & EPOLLERR) != 0) return ends_.abort();
  advance();
}

// Both sockets are edge-triggered, so on every event we try everything that may have become possible.
void Connection::advance() {
  if (ends_.state() == Ends::State::kGoodbye) return ends_.advance_goodbye();
  turn_.reset();
  if (!up_ended_ && !server_deaf_) advance_up();
  if (ends_.is_open() && !seeking_ && !ends_.has_server() && up_.wants_server()) seek_server();
  if (ends_.is_open() && ends_.has_server() && !down_ended_) advance_down();
  if (!ends_.is_open()) return;
  set_client_timer();
  if (down_ended_ && server_deaf_) return say_goodbye({});
  if (down_ended_ && up_ended_) ends_.close();
}

void Connection::advance_up() {
  switch (up_.advance(ends_.client(), ends_.server())) {
    case ClientStream::State::kWaiting:
    case ClientStream::State::kGoOn:
      return;
    case ClientStream::State::kNoMemory:
      return look_again(kMemoryRetry);
    case ClientStream::State::kYield:
      return look_again({});
    case ClientStream::State::kEnded:
      up_ended_ = true;
      return;
    case ClientStream::State::kRefused:
      return refuse(up_.refusal());
    case ClientStream::State::kClientGone:
      return ends_.abort();
    case ClientStream::State::kServerGone:
      server_deaf_ = true;
      return;
  }
}

// How many of the server's bytes we may pass on: while up_ has to see them, only those that it has seen.
std::uint64_t Connection::watch_server() {
  if (seen_ > 0 || !up_.watches_server()) return seen_ > 0 ? seen_ : Relay::kUnlimited;
  ssize_t got = -1;
  do {
    got = ::recv(ends_.server(), run_.buffer.data(), run_.buffer.size(), MSG_PEEK);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && would_block(errno)) return 0;
  if (got <= 0) return Relay::kUnlimited;  // the end: the relay sees it too
  seen_ = static_cast<std::uint64_t>(got);
  up_.see_server(std::span(run_.buffer).first(seen_));
  return seen_;
}

void Connection::advance_down() {
  std::uint64_t& budget = run_.budgets[rule_].down;
  const std::uint64_t before = budget;
  const std::uint64_t allowed = watch_server();
  std::uint64_t most = allowed;
  const Relay::State state = down_.pump(ends_.server(), ends_.client(), budget, most);
  if (seen_ > 0) seen_ = most;
  if (budget != before) up_.server_answered();
  switch (state) {
    case Relay::State::kWaiting:
      return;
    case Relay::State::kMostReached:
      if (allowed > 0) look_again({});
      return;
    case Relay::State::kNoMemory:
      return look_again(kMemoryRetry);
    case Relay::State::kYield:
      return look_again({});
    case Relay::State::kEnded:
      down_ended_ = true;
      ::shutdown(ends_.client(), SHUT_WR);
      return;
    case Relay::State::kOverBudget:
      return refuse({.reason = DenialReason::kByteBudget});
    case Relay::State::kSourceBroken:
    case Relay::State::kSinkBroken:
      return ends_.abort();
  }
}

// One direction may wait for memory while the other has more to do now.
void Connection::look_again(std::chrono::milliseconds delay) {
  if (delay.count() > 0 && turn_.armed()) return;
  turn_ = run_.loop->after(delay, [this] { advance(); });
}

void Connection::set_client_timer() {
  if (!up_.owes()) return client_timer_.reset();
  if (client_timer_.armed()) return;
  client_timer_ = run_.loop->after(run_.timeouts.client, [this] {
    if (up_.owes_the_rest()) return refuse({.reason = DenialReason::kClientTooSlow});
    say_goodbye({});  // it connected and sent nothing: no attempt to report
  });
}

void Connection::seek_server() {
  seeking_ = true;
  const ClientStream::Place& place = up_.place();
  ends_.seek_server({.name = place.name, .port = place.port, .rule = rule_},
                    [this](UpstreamSearch::Found found) { use_found(std::move(found)); });
}

void Connection::use_found(UpstreamSearch::Found found) {
  if (!ends_.is_open()) return;
  if (found.refusal) return refuse(*found.refusal);
  if (!found.server) {
    run_.unreachable.add(up_.place().name, up_.place().port, found.unreachable);
    return ends_.abort();
  }
  if (roomy_) {
    bound_unsent(found.server.get(), kRoomyUnsent);
  } else {
    bound_buffers(found.server.get(), kTightBuffer);
  }
  if (ends_.take_server(std::move(found.server), *this)) advance();
}

void Connection::refuse(const Refusal& refusal) {
  const ClientStream::Place& place = up_.place();
  run_.denials.add(refusal.host.empty() ? std::string_view(place.name) : refusal.host, place.port, refusal.reason,
                   refusal.address);
  const bool readable = !refusal.goodbye.empty() && up_.may_answer() && !down_.in_flight() && !down_ended_;
  if (!readable) return ends_.abort();
  say_goodbye(refusal.goodbye);
}

void Connection::say_goodbye(std::string text) {
  client_timer_.reset();
  turn_.reset();
  ends_.say_goodbye(std::move(text));
}

void Connection::leave() {
  if (roomy_) --run_.roomy_connections;
  roomy_ = false;
  client_timer_.reset();
  turn_.reset();
  gone_();
}

void Connection::last_round() {
  if (ends_.is_open() && ends_.has_server()) advance();
}

}  // namespace sallyport
