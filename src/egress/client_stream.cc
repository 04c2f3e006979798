#include "egress/client_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "egress/socket_errors.h"

namespace sallyport {
namespace {

constexpr std::size_t kReadAtOnce = 16 * 1024;
constexpr int kStreamRounds = 16;
// After each read we parse the whole hello again. A hello of 4 KiB may come byte by byte; a client that sends a large
// one that way only wants to waste our time.
constexpr std::uint64_t kMostJudged = 16 * 1024 * 1024;

// Assigning an empty string would keep the memory.
void release(std::string& text) { std::string().swap(text); }

ClientStream::State after_failed_send(int error, int server) {
  if (out_of_memory(error)) return ClientStream::State::kNoMemory;
  if (!would_block(error)) return ClientStream::State::kServerGone;
  return has_room(server) ? ClientStream::State::kNoMemory : ClientStream::State::kWaiting;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

ClientStream::ClientStream(Place place, std::uint64_t& budget, PipePool& pool, std::span<std::uint8_t> buffer)
    : place_(std::move(place)),
      budget_(budget),
      relay_(pool, buffer),
      buffer_(buffer),
      mode_(place_.check == ConnectionCheck::kHttp ? Mode::kHttp : Mode::kFirstBytes) {}

bool ClientStream::owes() const {
  return owes_the_rest() || (!cleared_ && place_.check != ConnectionCheck::kByAddress);
}

ClientStream::State ClientStream::refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  return State::kRefused;
}

ClientStream::State ClientStream::advance(int client, int server) {
  State state = State::kGoOn;
  for (int round = 0; round < kStreamRounds && state == State::kGoOn; ++round) {
    if (state = flush(server); state != State::kGoOn) break;
    switch (mode_) {
      case Mode::kFirstBytes:
      case Mode::kAfterHello:
      case Mode::kGuess:
        state = advance_hold(client);
        break;
      case Mode::kHttp:
        state = advance_http(client, server);
        break;
      case Mode::kRaw:
        state = relay(client, server, Relay::kUnlimited);
        break;
    }
  }
  if (state == State::kEnded) ::shutdown(server, SHUT_WR);
  return state == State::kGoOn ? State::kYield : state;
}

// Returns kGoOn when nothing is left to write.
ClientStream::State ClientStream::flush(int server) {
  if (pending_.empty() && (server >= 0 || !cleared_)) return State::kGoOn;
  if (server < 0) return State::kWaiting;
  while (written_ < pending_.size()) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(pending_.size() - written_, budget_));
    if (count == 0) return refuse({.reason = DenialReason::kByteBudget});
    const ssize_t put = ::send(server, pending_.data() + written_, count, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return after_failed_send(errno, server);
    written_ += static_cast<std::size_t>(put);
    budget_ -= static_cast<std::uint64_t>(put);
  }
  release(pending_);
  written_ = 0;
  return State::kGoOn;
}

ClientStream::State ClientStream::advance_hold(int client) {
  const ssize_t got = ::recv(client, buffer_.data(), std::min(buffer_.size(), kReadAtOnce), 0);
  if (got == 0) return end_of_hold();
  if (got < 0) {
    if (errno == EINTR) return State::kGoOn;
    return would_block(errno) ? State::kWaiting : State::kClientGone;
  }
  const std::span<const std::uint8_t> fresh = buffer_.first(static_cast<std::size_t>(got));
  held_.append(reinterpret_cast<const char*>(fresh.data()), fresh.size());
  return mode_ == Mode::kGuess ? guess(fresh) : judge();
}

// Handles the client's end, inside a message or between messages.
ClientStream::State ClientStream::end_of_hold() {
  if (mode_ == Mode::kGuess && guess_.at_end() == HttpGuess::kYes) {
    return refuse(refuse_request(HttpFault::kNotARequest, place_.name, place_.port));
  }
  const bool unread = mode_ != Mode::kAfterHello && place_.check != ConnectionCheck::kByAddress;
  if (unread || owes_the_rest()) return State::kClientGone;
  go_raw();
  return State::kGoOn;
}

void ClientStream::pass_held(std::size_t count) {
  const std::size_t ahead = std::min(count, sent_ahead_);
  pending_.append(held_, ahead, count - ahead);
  held_.erase(0, count);
  sent_ahead_ -= ahead;
  if (held_.empty()) release(held_);
  cleared_ = true;
}

void ClientStream::send_ahead() {
  pending_.append(held_, sent_ahead_);
  sent_ahead_ = held_.size();
}

void ClientStream::go_raw() {
  pass_held(held_.size());
  mode_ = Mode::kRaw;
}

// Judges until the held bytes are used up or too few.
ClientStream::State ClientStream::judge() {
  while (!held_.empty()) {
    judged_bytes_ += held_.size();
    if (judged_bytes_ > kMostJudged) return refuse({.reason = DenialReason::kClientTooSlow});
    FirstBytes verdict = mode_ == Mode::kFirstBytes
                             ? judge_first_bytes(place_.check, bytes_of(held_), place_.name)
                             : judge_after_hello(place_.check, bytes_of(held_), place_.name, server_hello_.chosen());
    switch (verdict.kind) {
      case FirstBytes::Kind::kUnsure:
        if (place_.check == ConnectionCheck::kByAddress) send_ahead();
        return State::kGoOn;
      case FirstBytes::Kind::kNeedMore:
        return State::kGoOn;
      case FirstBytes::Kind::kRefused:
        return refuse(std::move(verdict.refusal));
      case FirstBytes::Kind::kPass:
        pass_held(verdict.size);
        mode_ = Mode::kAfterHello;
        break;
      case FirstBytes::Kind::kSettled:
        go_raw();
        return State::kGoOn;
      case FirstBytes::Kind::kNotTls:
        mode_ = Mode::kGuess;
        return guess(bytes_of(held_));
    }
  }
  return State::kGoOn;
}

// `fresh` is the newest part of held_.
ClientStream::State ClientStream::guess(std::span<const std::uint8_t> fresh) {
  switch (guess_.feed(fresh)) {
    case HttpGuess::kMaybe:
      send_ahead();
      past_head_ = past_head_ || held_.size() > kLargestHttpHead;
      if (past_head_) pass_held(held_.size());
      return State::kGoOn;
    case HttpGuess::kYes: {
      if (past_head_) return refuse(refuse_request(HttpFault::kHeadTooLarge, place_.name, place_.port));
      mode_ = Mode::kHttp;
      const std::string held = std::exchange(held_, {});
      return feed(bytes_of(held));
    }
    case HttpGuess::kNo:
      break;
  }
  go_raw();
  return State::kGoOn;
}

ClientStream::State ClientStream::feed(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const HttpRequests::Step step = http_.next(bytes);
    switch (step.kind) {
      case HttpRequests::Step::Kind::kNeedMore:
        in_head_ = true;
        return State::kGoOn;
      case HttpRequests::Step::Kind::kHead: {
        in_head_ = false;
        if (std::optional<Refusal> refusal = refuse_host(step, place_.name, place_.port)) return refuse(*refusal);
        // The bytes sent ahead are part of the first line, which never changes.
        pending_ += http_.head().substr(std::min(std::exchange(sent_ahead_, 0), http_.head().size()));
        cleared_ = true;
        awaits_answer_ = true;
        break;
      }
      case HttpRequests::Step::Kind::kBody:
        pending_.append(reinterpret_cast<const char*>(bytes.data()), step.consumed);
        break;
      case HttpRequests::Step::Kind::kRefused:
        return refuse(refuse_request(step.fault, place_.name, place_.port));
    }
    bytes = bytes.subspan(step.consumed);
  }
  return State::kGoOn;
}

ClientStream::State ClientStream::advance_http(int client, int server) {
  if (const std::uint64_t opaque = http_.opaque_bytes(); server >= 0 && (opaque > 0 || relay_.in_flight())) {
    return relay(client, server, opaque);
  }
  const ssize_t got = ::recv(client, buffer_.data(), std::min(buffer_.size(), kReadAtOnce), 0);
  if (got > 0) return feed(buffer_.first(static_cast<std::size_t>(got)));
  if (got < 0) {
    if (errno == EINTR) return State::kGoOn;
    return would_block(errno) ? State::kWaiting : State::kClientGone;
  }
  return cleared_ && !in_head_ ? State::kEnded : State::kClientGone;
}

ClientStream::State ClientStream::relay(int client, int server, std::uint64_t most) {
  if (server < 0) return State::kWaiting;
  std::uint64_t left = most;
  const Relay::State state = relay_.pump(client, server, budget_, left);
  if (mode_ == Mode::kHttp) http_.skip(most - left);
  switch (state) {
    case Relay::State::kWaiting:
      return State::kWaiting;
    case Relay::State::kNoMemory:
      return State::kNoMemory;
    case Relay::State::kYield:
      return State::kYield;
    case Relay::State::kMostReached:
      return State::kGoOn;
    case Relay::State::kEnded:
      return State::kEnded;
    case Relay::State::kOverBudget:
      return refuse({.reason = DenialReason::kByteBudget});
    case Relay::State::kSourceBroken:
      return State::kClientGone;
    case Relay::State::kSinkBroken:
      return State::kServerGone;
  }
  return State::kClientGone;
}

}  // namespace sallyport
