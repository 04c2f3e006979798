// Between egress and the caller's sink: a tool can cause any number of events, the caller gets a bounded number.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "sallyport/event.h"

namespace sallyport {

// Passes on only the first of events that are equal in every field, and at most kMost different ones; then one
// "subproc.egress.more_events" says that there were more.
class BoundedEvents final : public EventSink {
 public:
  // Twice the bound on denials.
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
