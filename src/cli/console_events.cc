#include "cli/console_events.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/console.h"
#include "cli/exit_code.h"

namespace sallyport::cli {
namespace {

std::string event_text(const Event& event) {
  std::string text(event.name);
  for (const auto& [name, value] : event.fields) text += fmt::format(" {}={}", name, value);
  return text;
}

// Tells a reader who sees everything live that a copy kept in memory was cut: nothing they have to know.
bool concerns_only_the_record(const Event& event) { return event.name == "subproc.stdout.truncated"; }

}  // namespace

void ConsoleEvents::emit(const Event& event) {
  if (event.level == EventLevel::kDebug && verbosity_ == Verbosity::kNormal) return;
  if (format_ == Format::kJson) {
    const std::scoped_lock lock(mutex_);
    collected_.push_back(json_of(event));
    return;
  }
  if (concerns_only_the_record(event)) return;
  say(fmt::format("{}: {}", event.level == EventLevel::kWarning ? "warning" : "debug", event_text(event)));
}

Json ConsoleEvents::with_events(Json record) const {
  const std::scoped_lock lock(mutex_);
  record["events"] = collected_;
  return record;
}

int report(const Error& error, Format format, const ConsoleEvents& events) {
  if (format == Format::kText) return report(error, format);
  return print_record(events.with_events(error_record(error)), exit_code_of(error));
}

}  // namespace sallyport::cli
