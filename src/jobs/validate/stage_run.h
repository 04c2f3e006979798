// How a stage's npm commands go through the gate: what every step of a validation shares, and what a stage adds to it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "jobs/validate/validate.h"

namespace sallyport::jobs {

struct StageSetup {
  const JobContext* context = nullptr;
  const ValidateOptions* options = nullptr;
  const RegistryAllowlist* registry = nullptr;
  std::vector<HostRule> more_hosts{};  // of the options, read
  Workspace* workspace = nullptr;      // null: the repo itself, read-only
  std::vector<std::string>* notes = nullptr;
};

enum class Network { kNone, kRegistry };
enum class Scripts { kOff, kOn };

struct StepRequest {
  std::vector<std::string> argv{};
  Network network = Network::kNone;
  Scripts scripts = Scripts::kOff;
  Workspace* cache = nullptr;  // beside the repo's
  ByteCount max_output = mebibytes(1);
};

// The captured output goes to `out` when it is asked for.
[[nodiscard]] Step run_step(const StageSetup& setup, StageId stage, const StepRequest& request,
                            std::string* out = nullptr);

// A step that ended the stage: state and why, from the step.
void settle(StageResult& stage, Step step);

}  // namespace sallyport::jobs
