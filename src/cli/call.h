// From the options of `run` and `explain` to what the gate wants.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/call_options.h"
#include "cli/environment.h"
#include "sallyport/gate.h"
#include "sallyport/result.h"
#include "sallyport/workspace.h"

namespace sallyport::cli {

struct Call {
  GateConfig config;
  JailedSubprocessSpec spec;  // no tap yet
};

// Where the workspace that the options name is kept; empty without the option.
[[nodiscard]] std::filesystem::path workspace_place(const CallOptions& options, const Environment& environment);

// The workspace that the options name, made when there is none yet; null without the option.
[[nodiscard]] Result<std::unique_ptr<Workspace>> open_workspace(const CallOptions& options,
                                                                const Environment& environment,
                                                                const std::filesystem::path& repo, EventSink& events);

// The same for explaining: nothing is made.
[[nodiscard]] Result<std::unique_ptr<Workspace>> foresee_workspace(const CallOptions& options,
                                                                   const Environment& environment,
                                                                   const std::filesystem::path& repo);

// Reads the file system, to find the repo; writes nothing, starts nothing, and judges nothing of the call: that is the gate's,
// where a refusal is typed and recorded (C36). `events` is borrowed by the config.
[[nodiscard]] Call make_call(const CallOptions& options, const Environment& environment, EventSink& events);

}  // namespace sallyport::cli
