// run_external_cli with everything that a job needs: the caller's own rules shown to the tool, a memory limit, and the
// whole closed outcome with denials and scratch, to distinguish a tool that ran out of memory from one that was denied
// a host.
//
//   ExternalCliCall call{.probe = "syft", .argv = {"syft", "dir:."}, .cwd = repo, .timeout = 60s};
//   JailedSubprocessResult result = SALLYPORT_TRY(run_external_cli(gate, std::move(call)));
//
// Errors a caller can act on: those of sallyport/jail.h; InvalidProbeName comes before all others. The rules: docs/contract.md,
// C12-C18.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sallyport/gate.h"

namespace sallyport {

struct ExternalCliCall {
  std::string probe{};  // checked first (C12)
  std::vector<std::string> argv{};
  std::filesystem::path cwd{};          // mandatory
  std::chrono::milliseconds timeout{};  // mandatory
  std::vector<std::string> allowed_egress{};
  ByteCount max_output = kDefaultMaxOutput;
  std::optional<ByteCount> memory{};
  std::vector<std::filesystem::path> extra_read_only{};  // the caller's rules and configuration, outside the repo
  std::vector<Guarantee> required{};                     // listing any forbids the degraded mode of C17
};

[[nodiscard]] Result<JailedSubprocessResult> run_external_cli(Gate& gate, ExternalCliCall call,
                                                              std::stop_token stop = {});

}  // namespace sallyport
