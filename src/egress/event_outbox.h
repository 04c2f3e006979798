// Between a run's egress and its caller's sink: the egress thread never waits for a sink. A thread of the outbox,
// started with the first event, calls the sink. The queue for a slow sink is bounded; further events are only counted.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sallyport/event.h"

namespace sallyport {

class EventOutbox final : public EventSink {
 public:
  // More than one run's egress can emit: kMostEntries denials, and two lines for each unreachable host.
  static constexpr std::size_t kMostQueued = 2048;

  // `sink` may be null: then events are discarded.
  explicit EventOutbox(EventSink* sink, std::size_t most_queued = kMostQueued)
      : sink_(sink), most_queued_(most_queued) {}
  ~EventOutbox() override { close(); }
  EventOutbox(const EventOutbox&) = delete;
  EventOutbox& operator=(const EventOutbox&) = delete;

  // Never waits for the sink.
  void emit(const Event& event) override;
  // Delivers everything in the queue, and the number of dropped events ("subproc.egress.events_dropped", count). Waits
  // for the sink, which is borrowed until then.
  void close();

 private:
  [[nodiscard]] bool start();
  void deliver();

  EventSink* const sink_;
  const std::size_t most_queued_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<Event> queue_{};
  std::uint64_t dropped_ = 0;
  bool closing_ = false;
  std::thread thread_{};
};

// Allowed hosts that could not be reached: reports each once, and at the end how often.
class UnreachableLog {
 public:
  // Host, port and error identify an entry; past this number all share one entry without a name.
  static constexpr std::size_t kMostEntries = 64;

  explicit UnreachableLog(EventSink& sink) : sink_(sink) {}
  void add(std::string_view host, std::uint16_t port, std::string_view why);
  // The entries that came more than once, with their counts.
  void summarise() const;

 private:
  struct Entry {
    std::string host{};
    std::uint16_t port = 0;
    std::string why{};
    std::uint64_t count = 0;
  };

  EventSink& sink_;
  std::vector<Entry> entries_{};
};

}  // namespace sallyport
