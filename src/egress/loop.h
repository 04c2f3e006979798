// One epoll loop: readiness, timers, and a way to end it from another thread. All of a run's egress runs on the loop's
// thread; only stop() may be called from another thread.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "os/event_fd.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// Reports each change of a socket once, in either direction: the watcher then does what it can until the call would
// block.
inline constexpr std::uint32_t kBothWays = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void ready(int fd, std::uint32_t events) = 0;
};

class Loop;

// While it lives, its watcher gets events. Destroy it before you close the descriptor: a copy of a listener may live on
// in another process, and epoll would continue to report it.
class Watch {
 public:
  Watch() = default;
  Watch(Watch&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), id_(other.id_) {}
  Watch& operator=(Watch&& other) noexcept;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { reset(); }

  void reset();
  void change(std::uint32_t events) const;

 private:
  friend class Loop;
  Watch(Loop* loop, std::uint64_t id) : loop_(loop), id_(id) {}
  Loop* loop_ = nullptr;
  std::uint64_t id_ = 0;
};

// Fires once, unless reset or destroyed before.
class Timer {
 public:
  using Clock = std::chrono::steady_clock;

  Timer() = default;
  Timer(Timer&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), key_(other.key_) {}
  Timer& operator=(Timer&& other) noexcept;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { reset(); }

  void reset();
  // True until it fires. A handler runs with its timer already unarmed.
  [[nodiscard]] bool armed() const;

 private:
  friend class Loop;
  using Key = std::pair<Clock::time_point, std::uint64_t>;
  Timer(Loop* loop, Key key) : loop_(loop), key_(key) {}
  Loop* loop_ = nullptr;
  Key key_{};
};

class Loop {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Loop>> create();
  Loop(UniqueFd epoll, EventFd wake) : epoll_(std::move(epoll)), wake_(std::move(wake)) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] Result<Watch> watch(int fd, std::uint32_t events, Watcher& watcher);
  [[nodiscard]] Timer after(std::chrono::milliseconds delay, std::function<void()> fire);
  // Runs `task` after the current events: there an object that is still on the stack may be destroyed.
  void later(std::function<void()> task) { later_.push_back(std::move(task)); }
  // When the current events arrived.
  [[nodiscard]] Timer::Clock::time_point now() const { return now_; }

  void run();
  void stop() const noexcept { wake_.signal(); }

 private:
  friend class Watch;
  friend class Timer;

  struct Slot {
    Watcher* watcher = nullptr;
    int fd = -1;
    // Distinguishes it from an earlier watch of the same slot, whose event may still be in the current batch.
    std::uint32_t generation = 0;
  };

  [[nodiscard]] int milliseconds_to_next_timer() const;
  void dispatch(std::uint64_t id, std::uint32_t events);
  void fire_timers();
  void run_later();
  [[nodiscard]] Slot* slot_of(std::uint64_t id);

  UniqueFd epoll_;
  EventFd wake_;
  Timer::Clock::time_point now_ = Timer::Clock::now();
  std::vector<Slot> slots_{};
  std::vector<std::uint32_t> free_slots_{};
  std::map<Timer::Key, std::function<void()>> timers_{};
  std::uint64_t next_timer_ = 1;
  std::vector<std::function<void()>> later_{};
};

}  // namespace sallyport
