#include "cli/console_events.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/option_words.h"
#include "sallyport/event_name.h"

namespace sallyport::cli {
namespace {

std::string event_text(const Event& event) {
  std::string text(event.name);
  for (const auto& [name, value] : event.fields) text += fmt::format(" {}={}", name, value);
  return text;
}

std::string field(const Event& event, std::string_view wanted) {
  for (const auto& [name, value] : event.fields) {
    if (name == wanted) return value;
  }
  return {};
}

// At once, so that a reader sees it next to the tool's own message.
void say_denial(const Event& event) {
  const std::string port = field(event, "port");
  const std::string where = port == "0" ? "" : ":" + port;
  say(fmt::format("denied {}{}: {}", field(event, "host"), where, field(event, "reason")));
  if (const std::string hint = field(event, "hint"); !hint.empty()) say_hint(hint);
}

void say_ignored_git(const Event& event) {
  say(fmt::format("warning: a .git was not believed: {}; the repo is {}", field(event, "reason"),
                  field(event, "repo")));
  say_hint(field(event, "hint"));
}

void say_hidden_git(const Event& event) {
  say(fmt::format("warning: the git directory {} is not shown: {}", field(event, "path"), field(event, "reason")));
  say_hint(field(event, "hint"));
}

void say_taken_back(const Event& event) {
  say(fmt::format("the run left {} at {}: {}", field(event, "what"), field(event, "path"), field(event, "action")));
}

void say_weaker_limit(const Event& event) {
  say(fmt::format("warning: {} is kept by {} only: no cgroup can be made here", field(event, "guarantee"),
                  field(event, "mechanism")));
  say_hint(field(event, "hint"));
}

void say_unaudited(const Event& event) {
  say(fmt::format("warning: no audit log: {}", field(event, "reason")));
  say_hint(field(event, "hint"));
}

void say_weaker_jail(const Event& event) {
  say(fmt::format("warning: only the jail \"{}\" works here, which never gives {}", field(event, "jail"),
                  field(event, "lost")));
  say_hint("sallyport doctor says what the stronger ones lack; --require NAME refuses to do without");
}

// Says that a copy kept in memory was cut; a reader who sees everything live need not know.
bool concerns_only_the_record(const Event& event) { return event.name == event_name::kStdoutTruncated; }

}  // namespace

void ConsoleEvents::emit(const Event& given) {
  const Event event = in_options(given);
  const bool wanted = event.level != EventLevel::kDebug || verbosity_ == Verbosity::kVerbose;
  if (stream_) return stream_(event, wanted);
  if (!wanted) return;
  if (format_ == Format::kJson) {
    const std::scoped_lock lock(mutex_);
    collected_.push_back(json_of(event));
    return;
  }
  if (concerns_only_the_record(event)) return;
  if (event.name == event_name::kEgressDenied) return say_denial(event);
  if (event.name == event_name::kGitNotShown) return say_hidden_git(event);
  if (event.name == event_name::kGitTakenBack) return say_taken_back(event);
  if (event.name == event_name::kLimitWeaker) return say_weaker_limit(event);
  if (event.name == event_name::kJailWeaker) return say_weaker_jail(event);
  if (event.name == event_name::kRepoGitIgnored) return say_ignored_git(event);
  if (event.name == event_name::kAuditSkipped || event.name == event_name::kAuditFailed) return say_unaudited(event);
  say(fmt::format("{}: {}", event.level == EventLevel::kWarning ? "warning" : "debug", event_text(event)));
}

Json ConsoleEvents::collected() const {
  const std::scoped_lock lock(mutex_);
  return collected_;
}

Json ConsoleEvents::with_events(Json record) const {
  const std::scoped_lock lock(mutex_);
  record["events"] = collected_;
  return record;
}

int report(const Error& error, Format format, const ConsoleEvents& events) {
  if (format == Format::kText) return report(error, format);
  return print_record(events.with_events(error_record(in_options(error))), exit_code_of(error));
}

}  // namespace sallyport::cli
