#include "egress/loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "core/errors.h"

namespace sallyport {
namespace {

constexpr std::uint64_t kWake = std::numeric_limits<std::uint64_t>::max();
constexpr int kBatch = 128;

std::uint64_t id_of(std::size_t slot, std::uint32_t generation) {
  return static_cast<std::uint64_t>(generation) << 32 | static_cast<std::uint64_t>(slot);
}

}  // namespace

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    reset();
    loop_ = std::exchange(other.loop_, nullptr);
    id_ = other.id_;
  }
  return *this;
}

void Watch::reset() {
  Loop* const loop = std::exchange(loop_, nullptr);
  Loop::Slot* const slot = loop == nullptr ? nullptr : loop->slot_of(id_);
  if (slot == nullptr) return;
  ::epoll_ctl(loop->epoll_.get(), EPOLL_CTL_DEL, slot->fd, nullptr);
  *slot = {.watcher = nullptr, .fd = -1, .generation = slot->generation + 1};
  loop->free_slots_.push_back(static_cast<std::uint32_t>(id_));
}

void Watch::change(std::uint32_t events) const {
  const Loop::Slot* const slot = loop_ == nullptr ? nullptr : loop_->slot_of(id_);
  if (slot == nullptr) return;
  epoll_event event{.events = events, .data = {.u64 = id_}};
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_MOD, slot->fd, &event);
}

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    reset();
    loop_ = std::exchange(other.loop_, nullptr);
    key_ = other.key_;
  }
  return *this;
}

void Timer::reset() {
  if (Loop* const loop = std::exchange(loop_, nullptr)) loop->timers_.erase(key_);
}

bool Timer::armed() const { return loop_ != nullptr && loop_->timers_.contains(key_); }

Result<std::unique_ptr<Loop>> Loop::create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return fail(system_error("create", "an epoll descriptor", errno));
  EventFd wake = TRY(EventFd::create());
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kWake}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.fd(), &event) != 0) {
    return fail(system_error("watch", "an eventfd", errno));
  }
  return std::make_unique<Loop>(std::move(epoll), std::move(wake));
}

Result<Watch> Loop::watch(int fd, std::uint32_t events, Watcher& watcher) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_slots_.back();
  Slot& slot = slots_[index];
  epoll_event event{.events = events, .data = {.u64 = id_of(index, slot.generation)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return fail(system_error("watch", "a socket", errno, "see /proc/sys/fs/epoll/max_user_watches"));
  }
  free_slots_.pop_back();
  slot.watcher = &watcher;
  slot.fd = fd;
  return Watch(this, event.data.u64);
}

Timer Loop::after(std::chrono::milliseconds delay, std::function<void()> fire) {
  const Timer::Key key{now_ + delay, next_timer_++};
  timers_.emplace(key, std::move(fire));
  return Timer(this, key);
}

Loop::Slot* Loop::slot_of(std::uint64_t id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slots_.size() || slots_[index].generation != static_cast<std::uint32_t>(id >> 32)) return nullptr;
  return slots_[index].watcher == nullptr ? nullptr : &slots_[index];
}

int Loop::milliseconds_to_next_timer() const {
  if (timers_.empty()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Timer::Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, std::numeric_limits<int>::max()));
}

void Loop::dispatch(std::uint64_t id, std::uint32_t events) {
  const Slot* const slot = slot_of(id);
  if (slot != nullptr) slot->watcher->ready(slot->fd, events);
}

void Loop::fire_timers() {
  // A handler may arm a timer for "now" repeatedly; a new timer waits until the sockets have had their turn.
  const std::uint64_t first_new = next_timer_;
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now_;) {
    if (it->first.second >= first_new) {
      ++it;
      continue;
    }
    const std::function<void()> fire = std::move(it->second);
    timers_.erase(it);
    fire();
    it = timers_.begin();
  }
}

void Loop::run_later() {
  while (!later_.empty()) {
    std::vector<std::function<void()>> tasks;
    tasks.swap(later_);
    for (const std::function<void()>& task : tasks) task();
  }
}

void Loop::run() {
  std::array<epoll_event, kBatch> events{};
  for (bool stopping = false; !stopping;) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kBatch, milliseconds_to_next_timer());
    now_ = Timer::Clock::now();
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.u64 == kWake) {
        stopping = true;
      } else {
        dispatch(event.data.u64, event.events);
      }
    }
    fire_timers();
    run_later();
  }
}

}  // namespace sallyport
