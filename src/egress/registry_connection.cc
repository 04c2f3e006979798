#include "egress/registry_connection.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "egress/first_bytes.h"
#include "egress/socket_errors.h"

namespace sallyport {
namespace {

constexpr std::size_t kRequestPiece = 16 * 1024;
constexpr int kAnswerRounds = 64;

std::string http_error(std::string_view status, std::string_view why) {
  const std::string body = fmt::format("sallyport: {}\n", why);
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), body);
}

}  // namespace

RegistryConnection::RegistryConnection(EgressRun& run, UniqueFd client, UniqueFd reserve, std::size_t rule,
                                       std::function<void()> gone)
    : run_(run),
      endpoint_(*run.registry),
      rule_(rule),
      gone_(std::move(gone)),
      ends_(run, std::move(client), std::move(reserve), [this] { leave(); }) {}

void RegistryConnection::start() {
  if (!ends_.watch_client(*this)) return;
  send_at_once(ends_.client());
  request_timer_ = run_.loop->after(run_.timeouts.client, [this] { say_goodbye({}); });
  advance();
}

void RegistryConnection::ready(int fd, std::uint32_t events) {
  if (ends_.state() == Ends::State::kGone) return;
  if (fd == ends_.client() && (events & EPOLLERR) != 0) return ends_.abort();
  advance();
}

void RegistryConnection::last_round() {
  if (is_in(State::kAnswer)) advance();
}

void RegistryConnection::advance() {
  if (ends_.state() == Ends::State::kGoodbye) return ends_.advance_goodbye();
  if (!ends_.is_open()) return;
  switch (state_) {
    case State::kRequest:
      return read_request();
    case State::kSeeking:
      return;
    case State::kAnswer:
      return advance_answer();
  }
}

void RegistryConnection::read_request() {
  while (is_in(State::kRequest)) {
    const ssize_t got = ::recv(ends_.client(), run_.buffer.data(), kRequestPiece, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && would_block(errno)) return;
    if (got <= 0) return ends_.abort();
    const HttpRequests::Step step = http_.next(std::span(run_.buffer).first(static_cast<std::size_t>(got)));
    if (step.kind != HttpRequests::Step::Kind::kNeedMore) judge(step);
  }
}

void RegistryConnection::judge(const HttpRequests::Step& step) {
  std::optional<Refusal> refusal;
  if (step.kind == HttpRequests::Step::Kind::kHead) {
    refusal = refuse_host(step, endpoint_.name, endpoint_.port);
  } else {
    refusal = refuse_request(step.fault, endpoint_.name, endpoint_.port);
  }
  if (refusal) {
    run_.denials.add(refusal->host.empty() ? endpoint_.name : refusal->host, endpoint_.port, refusal->reason);
    return refusal->goodbye.empty() ? ends_.abort() : say_goodbye(std::move(refusal->goodbye));
  }
  RegistryRequest request = registry_request(http_.head(), endpoint_);
  if (!request.why.empty()) {
    return refuse(DenialReason::kNotForCredentials, http_error("403 Forbidden", request.why));
  }
  std::uint64_t& budget = run_.budgets[rule_].up;
  if (request.head.size() > budget) {
    return refuse(DenialReason::kByteBudget, http_error("403 Forbidden", "the rule's bytes are used up"));
  }
  budget -= request.head.size();
  request_ = std::move(request.head);
  is_head_ = request.is_head;
  request_timer_.reset();
  state_ = State::kSeeking;
  ends_.seek_server({.name = endpoint_.name, .port = endpoint_.registry_port, .rule = rule_, .tls = endpoint_.tls},
                    [this](UpstreamSearch::Found found) { use_found(std::move(found)); });
}

void RegistryConnection::use_found(UpstreamSearch::Found found) {
  if (!is_in(State::kSeeking)) return;
  if (found.refusal) {
    run_.denials.add(endpoint_.name, endpoint_.registry_port, found.refusal->reason, found.refusal->address);
    return say_goodbye(http_error("502 Bad Gateway", "the registry's address is refused"));
  }
  if (!found.server) return unreachable(found.unreachable);
  if (!ends_.take_server(std::move(found.server), *this)) return;
  answer_.emplace(endpoint_, is_head_);
  state_ = State::kAnswer;
  advance_answer();
}

void RegistryConnection::advance_answer() {
  if (!send_request()) return;
  for (int round = 0; round < kAnswerRounds; ++round) {
    if (!send_answer()) return;
    if (answered_) return say_goodbye({});
    if (!read_answer()) return;
  }
  turn_ = run_.loop->after({}, [this] { advance(); });
}

// False: the connection waits, or has ended.
bool RegistryConnection::send_request() {
  while (request_sent_ < request_.size()) {
    const ssize_t put =
        ::send(ends_.server(), request_.data() + request_sent_, request_.size() - request_sent_, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && would_block(errno)) return false;
    if (put < 0) {
      unreachable("the registry closed the connection");
      return false;
    }
    request_sent_ += static_cast<std::size_t>(put);
  }
  return true;
}

bool RegistryConnection::send_answer() {
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t put = ::send(ends_.client(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      out_.erase(0, sent);
      if (out_of_memory(error) || (would_block(error) && has_room(ends_.client()))) {
        turn_ = run_.loop->after(kMemoryRetry, [this] { advance(); });
      } else if (!would_block(error)) {
        ends_.abort();
      }
      return false;
    }
    sent += static_cast<std::size_t>(put);
  }
  out_.clear();
  return true;
}

bool RegistryConnection::read_answer() {
  const ssize_t got = ::recv(ends_.server(), run_.buffer.data(), run_.buffer.size(), 0);
  if (got < 0 && errno == EINTR) return true;
  if (got < 0 && would_block(errno)) return false;
  if (got <= 0) {
    use_answer(answer_->end(out_));
    return is_in(State::kAnswer);
  }
  const auto count = static_cast<std::uint64_t>(got);
  std::uint64_t& budget = run_.budgets[rule_].down;
  if (count > budget) {
    run_.denials.add(endpoint_.name, endpoint_.port, DenialReason::kByteBudget);
    ends_.abort();
    return false;
  }
  budget -= count;
  use_answer(answer_->feed({reinterpret_cast<const char*>(run_.buffer.data()), static_cast<std::size_t>(count)}, out_));
  return is_in(State::kAnswer);
}

void RegistryConnection::use_answer(RegistryAnswer::State state) {
  switch (state) {
    case RegistryAnswer::State::kMore:
      return;
    case RegistryAnswer::State::kDone:
      answered_ = true;
      return;
    case RegistryAnswer::State::kSecret:
      run_.denials.add(endpoint_.name, endpoint_.port, DenialReason::kCredentialsInAnswer);
      return ends_.abort();
    case RegistryAnswer::State::kBroken:
      break;
  }
  const std::string why = fmt::format("the registry's answer cannot be passed on: {}", answer_->why());
  if (answer_->untouched()) return unreachable(why);
  run_.unreachable.add(endpoint_.name, endpoint_.registry_port, why);
  ends_.abort();  // a reset, not a close: the tool must not take a part for the whole
}

void RegistryConnection::refuse(DenialReason reason, std::string goodbye) {
  run_.denials.add(endpoint_.name, endpoint_.port, reason);
  say_goodbye(std::move(goodbye));
}

void RegistryConnection::unreachable(const std::string& why) {
  run_.unreachable.add(endpoint_.name, endpoint_.registry_port, why);
  say_goodbye(http_error("502 Bad Gateway", fmt::format("{} cannot be reached: {}", endpoint_.name, why)));
}

void RegistryConnection::say_goodbye(std::string text) {
  request_timer_.reset();
  turn_.reset();
  ends_.say_goodbye(std::move(text));
}

void RegistryConnection::leave() {
  request_timer_.reset();
  turn_.reset();
  gone_();
}

}  // namespace sallyport
