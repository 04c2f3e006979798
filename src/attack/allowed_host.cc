#include "attack/allowed_host.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stop_token>

#include "attack/listeners.h"

namespace sallyport::attack {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{5};
constexpr milliseconds kHostQuiet{50};  // without a connection for so long: none will come
constexpr milliseconds kHostPatience{5000};
constexpr std::size_t kMostHeard = 4U << 20U;

constexpr std::string_view kHttpAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
// A fatal alert: a TLS client learns that a server answered.
constexpr std::string_view kTlsAnswer("\x15\x03\x03\x00\x02\x02\x28", 7);
constexpr char kTlsHandshake = 22;

bool readable(int fd) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, static_cast<int>(kBetweenLooks.count())) > 0;
}

}  // namespace

Result<std::unique_ptr<AllowedHost>> AllowedHost::open() {
  std::uint16_t port = 0;
  UniqueFd listener = TRY(listen_on_loopback(SOCK_STREAM, port));
  return std::make_unique<AllowedHost>(std::move(listener), port);
}

AllowedHost::AllowedHost(UniqueFd listener, std::uint16_t port)
    : listener_(std::move(listener)), port_(port), thread_([this](const std::stop_token& stop) { listen(stop); }) {}

// Serves one after the other: an attack holds one connection at a time.
void AllowedHost::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!readable(listener_.get())) continue;
    ++open_;
    const UniqueFd talk(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (talk) hear_out(talk.get(), stop);
    --open_;
  }
}

void AllowedHost::hear_out(int fd, const std::stop_token& stop) {
  std::array<char, 16384> buffer{};
  while (!stop.stop_requested()) {
    if (!readable(fd)) continue;
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) return;
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(got));
    {
      const std::scoped_lock lock(mutex_);
      if (heard_.size() < kMostHeard) heard_ += piece;
    }
    std::string_view answer;
    if (piece.find("\r\n\r\n") != std::string_view::npos) answer = kHttpAnswer;
    if (piece.front() == kTlsHandshake) answer = kTlsAnswer;
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  }
}

bool AllowedHost::was_told(std::string_view word) const {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const auto waited = std::chrono::steady_clock::now() - start;
    const bool over = (open_ == 0 && waited > kHostQuiet) || waited > kHostPatience;
    {
      const std::scoped_lock lock(mutex_);
      if (heard_.find(word) != std::string::npos) return true;
    }
    if (over) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace sallyport::attack
