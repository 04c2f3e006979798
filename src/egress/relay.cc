#include "egress/relay.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "egress/socket_errors.h"

namespace sallyport {
namespace {

constexpr std::uint64_t kChunk = 1024 * 1024;
// At most about 16 MiB before the other connections get their turn.
constexpr int kPumpRounds = 16;

// The budget is used up: checks whether there is more.
Relay::State look_for_more(int from) {
  char byte = 0;
  const ssize_t got = ::recv(from, &byte, 1, MSG_PEEK);
  if (got > 0) return Relay::State::kOverBudget;
  if (got == 0) return Relay::State::kEnded;
  return would_block(errno) || errno == EINTR ? Relay::State::kWaiting : Relay::State::kSourceBroken;
}

Relay::State after_failed_read(int error) {
  if (would_block(error)) return Relay::State::kWaiting;
  return out_of_memory(error) ? Relay::State::kNoMemory : Relay::State::kSourceBroken;
}

Relay::State after_failed_write(int error, int to) {
  if (out_of_memory(error)) return Relay::State::kNoMemory;
  if (!would_block(error)) return Relay::State::kSinkBroken;
  return has_room(to) ? Relay::State::kNoMemory : Relay::State::kWaiting;
}

}  // namespace

Relay::~Relay() {
  if (!pipe_) return;
  if (in_flight_ == 0) {
    give_back();
  } else {
    pool_.lost();
  }
}

void Relay::give_back() {
  if (!pipe_) return;
  pool_.give_back(std::move(*pipe_));
  pipe_.reset();
}

Relay::State Relay::pump(int from, int to, std::uint64_t& budget, std::uint64_t& most) {
  for (int round = 0; round < kPumpRounds; ++round) {
    if (in_flight_ > 0) {
      if (const std::optional<State> state = drain(to)) return *state;
      if (in_flight_ > 0) continue;
    }
    std::optional<State> state;
    const std::uint64_t want = std::min({kChunk, most, budget});
    if (most == 0) {
      state = State::kMostReached;
    } else if (budget == 0) {
      state = look_for_more(from);
    } else {
      if (!pipe_) pipe_ = pool_.take();
      state = pipe_ ? fill(from, want, budget, most) : copy(from, to, want, budget, most);
    }
    if (!state) continue;
    give_back();
    return *state;
  }
  return State::kYield;
}

std::optional<Relay::State> Relay::fill(int from, std::uint64_t want, std::uint64_t& budget, std::uint64_t& most) {
  // The pipe is empty, so EAGAIN can only mean that the socket is.
  const ssize_t got = ::splice(from, nullptr, pipe_->write_end.get(), nullptr, want, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (got == 0) return State::kEnded;
  if (got < 0) {
    if (errno == EINTR) return std::nullopt;
    return after_failed_read(errno);
  }
  in_flight_ = static_cast<std::size_t>(got);
  budget -= in_flight_;
  most -= in_flight_;
  return std::nullopt;
}

std::optional<Relay::State> Relay::drain(int to) {
  const ssize_t put =
      ::splice(pipe_->read_end.get(), nullptr, to, nullptr, in_flight_, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (put > 0) {
    in_flight_ -= static_cast<std::size_t>(put);
    return std::nullopt;
  }
  if (put < 0 && errno == EINTR) return std::nullopt;
  return put < 0 ? after_failed_write(errno, to) : State::kSinkBroken;
}

std::optional<Relay::State> Relay::copy(int from, int to, std::uint64_t want, std::uint64_t& budget,
                                        std::uint64_t& most) const {
  // Peeks, sends, and only then consumes: what the sink does not accept stays in the source.
  const ssize_t seen = ::recv(from, copy_buffer_.data(), std::min<std::uint64_t>(want, copy_buffer_.size()), MSG_PEEK);
  if (seen == 0) return State::kEnded;
  if (seen < 0) {
    if (errno == EINTR) return std::nullopt;
    return after_failed_read(errno);
  }
  const ssize_t put = ::send(to, copy_buffer_.data(), static_cast<std::size_t>(seen), MSG_NOSIGNAL);
  if (put < 0) {
    if (errno == EINTR) return std::nullopt;
    return after_failed_write(errno, to);
  }
  const auto count = static_cast<std::uint64_t>(put);
  budget -= count;
  most -= count;
  for (std::uint64_t left = count; left > 0;) {
    const ssize_t taken = ::recv(from, copy_buffer_.data(), left, 0);  // not MSG_TRUNC: only TCP drops without copying
    if (taken > 0) {
      left -= static_cast<std::uint64_t>(taken);
    } else if (taken == 0 || errno != EINTR) {
      return State::kSourceBroken;  // impossible: the bytes were just there. Sending them twice would be worse.
    }
  }
  return std::nullopt;
}

}  // namespace sallyport
