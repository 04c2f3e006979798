// Structured events by name (docs/contract.md, C18). The library never writes to stderr: it calls its sink. A sink is
// called from the thread that runs the call, or from that call's egress, possibly from several at once, and must be
// thread-safe. It may be slow: a run's egress waits for it only at the run's end. It must return eventually, since the
// run's end waits for a call under way. It must not throw: some of these threads have no caller to catch it.
// Nothing here fails.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sallyport {

enum class EventLevel { kDebug, kWarning };

struct Event {
  EventLevel level = EventLevel::kDebug;
  std::string_view name;  // "subproc.bwrap.wrapped", …; a literal
  std::vector<std::pair<std::string_view, std::string>> fields;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void emit(const Event& event) = 0;
};

}  // namespace sallyport
