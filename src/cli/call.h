// Turns the options of `run` and `explain` into what the gate needs.
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

// The directory of the workspace that the options name; empty without the option.
[[nodiscard]] std::filesystem::path workspace_place(const CallOptions& options, const Environment& environment);

// The workspace that the options name, created if missing; null without the option.
[[nodiscard]] Result<std::unique_ptr<Workspace>> open_workspace(const CallOptions& options,
                                                                const Environment& environment,
                                                                const std::filesystem::path& repo, EventSink& events);

// The same for explain: creates nothing.
[[nodiscard]] Result<std::unique_ptr<Workspace>> foresee_workspace(const CallOptions& options,
                                                                   const Environment& environment,
                                                                   const std::filesystem::path& repo);

// Reads the file system, to find the repo; writes nothing, starts nothing, and does not judge the call: the gate does
// that, where a refusal is typed and recorded (C36). `events` is borrowed by the config.
[[nodiscard]] Call make_call(const CallOptions& options, const Environment& environment, EventSink& events);

}  // namespace sallyport::cli
