// Turns the options of `run` and `explain` into what the gate needs.
#pragma once

#include <filesystem>

#include "cli/call_options.h"
#include "cli/environment.h"
#include "sallyport/gate.h"

namespace sallyport::cli {

struct Call {
  GateConfig config;
  JailedSubprocessSpec spec;  // no tap yet
};

// The directory of the workspace that the options name; empty without the option.
[[nodiscard]] std::filesystem::path workspace_place(const CallOptions& options, const Environment& environment);

// Reads the file system, to find the repo; writes nothing, starts nothing, and does not judge the call: the gate does
// that, where a refusal is typed and recorded (C36). `events` is borrowed by the config.
[[nodiscard]] Call make_call(const CallOptions& options, const Environment& environment, EventSink& events);

}  // namespace sallyport::cli
