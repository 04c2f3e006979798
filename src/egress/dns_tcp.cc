#include "egress/dns_tcp.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "egress/dns_responder.h"
#include "egress/socket_errors.h"
#include "os/pipe.h"

namespace sallyport {
namespace {

constexpr std::size_t kLargestQuery = 4096;
constexpr std::size_t kMostQueries = 256;

}  // namespace

class DnsTcpConnection final : public Watcher {
 public:
  DnsTcpConnection(EgressRun& run, UniqueFd socket, std::function<void()> gone)
      : run_(run), socket_(std::move(socket)), gone_(std::move(gone)) {}

  void start() {
    Result<Watch> watch = run_.loop->watch(socket_.get(), EPOLLIN | EPOLLOUT | EPOLLET, *this);
    if (!watch) return close();
    watch_ = std::move(*watch);
    advance();
  }

  void ready(int /*fd*/, std::uint32_t /*events*/) override {
    if (socket_) advance();
  }

 private:
  // Reads no query while the client has not read an answer.
  void advance() {
    while (flush() && read_some()) {
    }
    if (socket_) idle_ = run_.loop->after(run_.timeouts.dns_idle, [this] { close(); });
  }

  [[nodiscard]] bool flush() {
    while (!answers_.empty()) {
      const ssize_t put = ::send(socket_.get(), answers_.data(), answers_.size(), MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && would_block(errno)) return false;
      if (put < 0) {
        close();
        return false;
      }
      answers_.erase(0, static_cast<std::size_t>(put));
    }
    return true;
  }

  [[nodiscard]] bool read_some() {
    const ssize_t got = ::recv(socket_.get(), run_.buffer.data(), 2 + kLargestQuery, 0);
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && would_block(errno)) return false;
    if (got > 0) {
      received_.insert(received_.end(), run_.buffer.begin(), run_.buffer.begin() + got);
      if (answer_all()) return true;
    }
    close();
    return false;
  }

  // False: the connection must end.
  [[nodiscard]] bool answer_all() {
    std::size_t used = 0;
    while (received_.size() - used >= 2) {
      const std::size_t size = static_cast<std::size_t>(received_[used]) << 8 | received_[used + 1];
      if (size > kLargestQuery || queries_ == kMostQueries) return false;
      if (received_.size() - used - 2 < size) break;
      ++queries_;
      const auto answer = answer_dns(run_, std::span(received_).subspan(used + 2, size));
      if (!answer) return false;
      answers_ += static_cast<char>(answer->size() >> 8);
      answers_ += static_cast<char>(answer->size() & 0xff);
      answers_.append(answer->begin(), answer->end());
      used += 2 + size;
    }
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(used));
    return true;
  }

  void close() {
    if (!socket_) return;
    watch_.reset();
    socket_.reset();
    idle_.reset();
    gone_();
  }

  EgressRun& run_;
  UniqueFd socket_;
  Watch watch_{};
  Timer idle_{};
  std::function<void()> gone_;
  std::vector<std::uint8_t> received_{};
  std::string answers_{};
  std::size_t queries_ = 0;
};

DnsTcp::DnsTcp(EgressRun& run) : run_(run) {}
DnsTcp::~DnsTcp() = default;

Status DnsTcp::serve_on(UniqueFd listener) {
  TRY(set_nonblocking(listener.get()));
  Watch watch = TRY(run_.loop->watch(listener.get(), EPOLLIN, *this));
  listeners_.push_back({.fd = std::move(listener), .watch = std::move(watch)});
  return {};
}

void DnsTcp::ready(int fd, std::uint32_t /*events*/) {
  while (has_room()) {
    UniqueFd client(::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) {
      if (would_block(errno)) return;
      return pause();  // probably out of descriptors: wait, do not spin
    }
    take(std::move(client));
  }
  pause();
}

void DnsTcp::take(UniqueFd client) {
  const auto it = connections_.emplace(connections_.end());
  *it = std::make_unique<DnsTcpConnection>(run_, std::move(client), [this, it] {
    run_.loop->later([this, it] {
      connections_.erase(it);
      resume();
    });
  });
  (*it)->start();
}

void DnsTcp::pause() {
  paused_ = true;
  for (const Listener& listener : listeners_) listener.watch.change(0);
  retry_ = run_.loop->after(kDescriptorRetry, [this] { resume(); });
}

void DnsTcp::resume() {
  if (!paused_) return;
  paused_ = false;
  retry_.reset();
  for (const Listener& listener : listeners_) listener.watch.change(EPOLLIN);
}

void DnsTcp::close_all() {
  connections_.clear();
  listeners_.clear();
}

}  // namespace sallyport
