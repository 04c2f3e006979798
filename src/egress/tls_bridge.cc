#include "egress/tls_bridge.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "core/errors.h"
#include "egress/endpoint.h"
#include "egress/socket_errors.h"

namespace sallyport {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRecord = 16 * 1024;
constexpr int kPlainBuffer = 64 * 1024;
// After so many the other connections get their turn.
constexpr int kBridgeRounds = 32;
// How long a peer may take to read the rest after the user of the plain end has gone.
constexpr std::chrono::milliseconds kLastWords = 10s;

}  // namespace

void TlsBridge::start(TlsContext& context, const std::string& name) {
  Result<TlsConnection> tls = context.connect_over(outside_.get(), name);
  if (!tls) return give_up(tls.error().message);
  tls_ = std::move(*tls);
  Result<Watch> watch = loop_.watch(outside_.get(), kBothWays, *this);
  if (!watch) return give_up("no memory to wait for the peer");
  outside_watch_ = std::move(*watch);
  shake_hands();
}

void TlsBridge::ready(int /*fd*/, std::uint32_t /*events*/) {
  if (is_gone_) return;
  if (plain_) return pump();
  shake_hands();
}

void TlsBridge::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  if (result == 1) return open_plain_end();
  const int why = SSL_get_error(tls_.get(), result);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return;
  give_up(tls_problem(tls_.get()));
}

void TlsBridge::open_plain_end() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return give_up(errno_text(errno));
  }
  plain_ = UniqueFd(ends[0]);
  UniqueFd users(ends[1]);
  for (const int fd : ends) bound_buffers(fd, kPlainBuffer);
  Result<Watch> watch = loop_.watch(plain_.get(), kBothWays, *this);
  if (!watch) return give_up("no memory to wait for the peer");
  plain_watch_ = std::move(*watch);
  const Done done = std::move(done_);
  done(std::move(users), {});  // do not touch this object after this call: its first event continues
}

void TlsBridge::give_up(const std::string& problem) {
  outside_watch_.reset();
  const Done done = std::move(done_);
  done(UniqueFd(), problem);  // do not touch this object after this call
}

void TlsBridge::pump() {
  for (int round = 0; round < kBridgeRounds; ++round) {
    const Step out = pump_out();
    const Step in = out == Step::kGone ? out : pump_in();
    if (in == Step::kGone || (out_ended_ && in_ended_)) return end();
    if (out == Step::kWaiting && in == Step::kWaiting) {
      if (out_ended_ && !timer_.armed()) timer_ = loop_.after(kLastWords, [this] { end(); });
      return;
    }
  }
  timer_ = loop_.after({}, [this] { pump(); });
}

// From the plain end to the peer.
TlsBridge::Step TlsBridge::pump_out() {
  if (out_ended_) return Step::kWaiting;
  if (out_.empty()) {
    std::array<char, kRecord> buffer;
    const ssize_t got = ::recv(plain_.get(), buffer.data(), buffer.size(), 0);
    if (got == 0) {
      out_ended_ = true;
      ERR_clear_error();
      SSL_shutdown(tls_.get());
      ::shutdown(outside_.get(), SHUT_WR);
      return Step::kProgress;
    }
    if (got < 0) return would_block(errno) ? Step::kWaiting : (errno == EINTR ? Step::kProgress : Step::kGone);
    out_.assign(buffer.data(), static_cast<std::size_t>(got));
  }
  ERR_clear_error();
  const int put = SSL_write(tls_.get(), out_.data(), static_cast<int>(out_.size()));
  if (put <= 0) return failed(put);
  out_.erase(0, static_cast<std::size_t>(put));
  return Step::kProgress;
}

TlsBridge::Step TlsBridge::pump_in() {
  if (in_ended_) return Step::kWaiting;
  if (in_.empty()) {
    std::array<char, kRecord> buffer;
    ERR_clear_error();
    const int got = SSL_read(tls_.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      if (SSL_get_error(tls_.get(), got) != SSL_ERROR_ZERO_RETURN) return failed(got);
      in_ended_ = true;
      ::shutdown(plain_.get(), SHUT_WR);
      return Step::kProgress;
    }
    in_.assign(buffer.data(), static_cast<std::size_t>(got));
  }
  const ssize_t put = ::send(plain_.get(), in_.data(), in_.size(), MSG_NOSIGNAL);
  if (put < 0) return would_block(errno) ? Step::kWaiting : (errno == EINTR ? Step::kProgress : Step::kGone);
  in_.erase(0, static_cast<std::size_t>(put));
  return Step::kProgress;
}

TlsBridge::Step TlsBridge::failed(int result) const {
  const int why = SSL_get_error(tls_.get(), result);
  return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? Step::kWaiting : Step::kGone;
}

void TlsBridge::end() {
  if (is_gone_) return;
  is_gone_ = true;
  timer_.reset();
  outside_watch_.reset();
  plain_watch_.reset();
  plain_.reset();
  outside_.reset();
  if (gone_) gone_();
}

void TlsBridges::keep(std::unique_ptr<TlsBridge> bridge) {
  const auto it = bridges_.insert(bridges_.end(), std::move(bridge));
  (*it)->when_gone([this, it] { loop_.later([this, it] { bridges_.erase(it); }); });
}

void TlsBridges::close_all() {
  for (const std::unique_ptr<TlsBridge>& bridge : bridges_) bridge->last_round();
  bridges_.clear();
}

}  // namespace sallyport
