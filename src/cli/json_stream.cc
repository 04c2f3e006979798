#include "cli/json_stream.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/console.h"
#include "cli/log_commands.h"
#include "cli/option_words.h"
#include "core/bytes/base64.h"
#include "core/text/utf8.h"
#include "sallyport/event_name.h"

namespace sallyport::cli {

void JsonStream::line_locked(std::string_view kind, Json fields) {
  fields["schema"] = "sallyport.event/1";
  fields["event"] = kind;
  std::string text = json_dump(fields) + "\n";
  if (in_build_log()) text = without_log_commands(std::move(text));
  live_.pass_on(Stream::kStdout, text);
}

// Only once the start is certain: a refusal is an error without a "started" event.
void JsonStream::start_locked() {
  if (!std::exchange(started_, true)) line_locked("started", {{"tool", json_text(tool_)}});
}

void JsonStream::output(Stream stream, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::scoped_lock lock(mutex_);
  start_locked();
  const bool text = is_valid_utf8(bytes);
  line_locked("output", {{"stream", stream == Stream::kStdout ? "stdout" : "stderr"},
                         {"encoding", text ? "utf-8" : "base64"},
                         {"data", text ? std::string(bytes) : base64(bytes)}});
}

void JsonStream::event(const Event& event, bool wanted) {
  const std::scoped_lock lock(mutex_);
  if (event.name == event_name::kJailWrapped || event.name == event_name::kBwrapWrapped) start_locked();
  if (!wanted) return;
  if (event.name == event_name::kEgressDenied) start_locked();
  const std::string_view kind = event.name == event_name::kEgressDenied ? "denial"
                                : event.level == EventLevel::kWarning   ? "warning"
                                                                        : "debug";
  line_locked(kind, json_of(event));
}

void JsonStream::result(JailedSubprocessResult& result, const std::vector<std::string>& hints, int exit_code) {
  result.stdout_stream.bytes.clear();
  result.stderr_stream.bytes.clear();
  const std::scoped_lock lock(mutex_);
  start_locked();
  Json record = run_record(result);
  for (const char* shown : {"schema", "stdout", "stderr", "encoding"}) record.erase(shown);
  record["hints"] = hints;
  record["code"] = exit_code;
  line_locked("result", std::move(record));
}

void JsonStream::error(const Error& error, int exit_code) {
  const std::scoped_lock lock(mutex_);
  Json record = error_record(in_options(error));
  record["code"] = exit_code;
  line_locked("error", std::move(record));
}

int JsonStream::waits() {
  const std::scoped_lock lock(mutex_);
  return live_.waits_for(Stream::kStdout);
}

}  // namespace sallyport::cli
