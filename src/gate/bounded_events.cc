#include "gate/bounded_events.h"

#include <utility>

#include "sallyport/event_name.h"

namespace sallyport {

void BoundedEvents::emit(const Event& event) {
  if (to_ == nullptr) return;
  std::string key(event.name);
  for (const auto& [name, value] : event.fields) key.append(1, '\0').append(name).append(1, '\0').append(value);
  {
    const std::scoped_lock lock(mutex_);
    if (seen_.contains(key)) return;
    if (seen_.size() >= kMost) {
      if (std::exchange(full_, true)) return;
    } else {
      seen_.insert(std::move(key));
    }
    if (full_) return to_->emit({.level = EventLevel::kWarning, .name = event_name::kEgressMoreEvents, .fields = {}});
  }
  to_->emit(event);
}

}  // namespace sallyport
