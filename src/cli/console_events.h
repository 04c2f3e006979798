// Passes the gate's events to a person or into the record.
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/format.h"
#include "core/json/json.h"
#include "sallyport/event.h"
#include "sallyport/result.h"

namespace sallyport::cli {

// Collects or prints events as they come. In text mode warnings go to stderr at once, debug events only when verbose;
// in JSON mode both are kept for the record.
class ConsoleEvents : public EventSink {
 public:
  ConsoleEvents(Format format, Verbosity verbosity) : format_(format), verbosity_(verbosity) {}
  void emit(const Event& event) override;
  [[nodiscard]] Json collected() const;
  // From now on passes events there as they come; `wanted` is false for events that were not requested. Call before any
  // run.
  void pass_to(std::function<void(const Event&, bool wanted)> stream) { stream_ = std::move(stream); }
  // The record with its "events".
  [[nodiscard]] Json with_events(Json record) const;

 private:
  std::function<void(const Event&, bool)> stream_{};
  Format format_;
  Verbosity verbosity_;
  mutable std::mutex mutex_;
  std::vector<Json> collected_;
};

// report() of console.h, with the events so far in the record.
[[nodiscard]] int report(const Error& error, Format format, const ConsoleEvents& events);

}  // namespace sallyport::cli
