// From the options of `run` and `explain` to what the gate wants.
#pragma once

#include "cli/call_options.h"
#include "cli/environment.h"
#include "sallyport/gate.h"
#include "sallyport/result.h"

namespace sallyport::cli {

struct Call {
  GateConfig config;
  JailedSubprocessSpec spec;  // no tap yet
};

// Reads the file system, to find the repo; writes nothing, starts nothing, and judges nothing of the call: that is the gate's,
// where a refusal is typed and recorded (C36). `events` is borrowed by the config.
[[nodiscard]] Call make_call(const CallOptions& options, const Environment& environment, EventSink& events);

}  // namespace sallyport::cli
