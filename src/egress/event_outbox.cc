#include "egress/event_outbox.h"

#include <algorithm>
#include <system_error>

#include "sallyport/event_name.h"

namespace sallyport {
namespace {

constexpr std::string_view kUnreachable = event_name::kEgressUnreachable;
constexpr std::string_view kMoreHosts = "more hosts";

}  // namespace

void EventOutbox::emit(const Event& event) {
  if (sink_ == nullptr) return;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= most_queued_ || !start()) {
      ++dropped_;
      return;
    }
    queue_.push_back(event);
  }
  changed_.notify_one();
}

bool EventOutbox::start() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { deliver(); });
  } catch (const std::system_error&) {  // std::thread reports failure only by throwing; count the event as dropped
    return false;
  }
  return true;
}

void EventOutbox::deliver() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Event event = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    sink_->emit(event);
    lock.lock();
  }
}

void EventOutbox::close() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (const std::uint64_t dropped = std::exchange(dropped_, 0); dropped > 0) {
    sink_->emit({.level = EventLevel::kWarning,
                 .name = event_name::kEgressEventsDropped,
                 .fields = {{"count", std::to_string(dropped)}}});
  }
}

void UnreachableLog::add(std::string_view host, std::uint16_t port, std::string_view why) {
  const auto same = [&](const Entry& entry) { return entry.host == host && entry.port == port && entry.why == why; };
  auto found = std::ranges::find_if(entries_, same);
  if (found == entries_.end() && entries_.size() >= kMostEntries) {
    host = kMoreHosts;
    port = 0;
    why = "";
    found = std::ranges::find_if(entries_, same);
  }
  if (found != entries_.end()) {
    ++found->count;
    return;
  }
  entries_.push_back({.host = std::string(host), .port = port, .why = std::string(why), .count = 1});
  sink_.emit({.level = EventLevel::kWarning,
              .name = kUnreachable,
              .fields = {{"host", std::string(host)}, {"port", std::to_string(port)}, {"why", std::string(why)}}});
}

void UnreachableLog::summarise() const {
  for (const Entry& entry : entries_) {
    if (entry.count < 2) continue;
    sink_.emit({.level = EventLevel::kWarning,
                .name = kUnreachable,
                .fields = {{"host", entry.host},
                           {"port", std::to_string(entry.port)},
                           {"why", entry.why},
                           {"count", std::to_string(entry.count)}}});
  }
}

}  // namespace sallyport
