// --json-stream: one event a line on stdout, as it happens (docs/json.md).
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/live_output.h"
#include "core/json/json.h"
#include "sallyport/event.h"
#include "sallyport/jail.h"

namespace sallyport::cli {

// Thread-safe: the egress reports denials from its own thread. A slow reader slows the tool down, as with live output;
// `live` outlives this.
class JsonStream {
 public:
  JsonStream(LiveOutput& live, std::string_view tool) : live_(live), tool_(tool) {}

  void output(Stream stream, std::string_view bytes);
  // A refused connection is a "denial", the others are "warning" and "debug".
  void event(const Event& event, bool wanted);
  // Drops the output, which was already printed.
  void result(JailedSubprocessResult& result, const std::vector<std::string>& hints, int exit_code);
  void error(const Error& error, int exit_code);
  // JailedSubprocessSpec::tap_waits_for.
  [[nodiscard]] int waits();

 private:
  void start_locked();
  void line_locked(std::string_view kind, Json fields);

  LiveOutput& live_;
  std::string tool_;
  std::mutex mutex_;
  bool started_ = false;
};

}  // namespace sallyport::cli
