// Between egress and the caller's sink: a tool makes as many events as it likes, the caller hears a bounded number.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "sallyport/event.h"

namespace sallyport {

// Of events that are alike in every field only the first is passed on, and of different ones kMost; then one
// "subproc.egress.more_events" says that there were more.
class BoundedEvents final : public EventSink {
 public:
  // The denials, which are bounded themselves, and as many again.
  static constexpr std::size_t kMost = 2000;

  explicit BoundedEvents(EventSink* to) : to_(to) {}
  void emit(const Event& event) override;

 private:
  EventSink* to_;
  std::mutex mutex_;
  std::set<std::string> seen_;
  bool full_ = false;
};

}  // namespace sallyport
