// run_external_cli with the whole closed outcome, so that you can distinguish a tool that ran out of memory from one that was
// denied a host.
//
//   JailedSubprocessResult result = SALLYPORT_TRY(
//       run_external_cli_whole(*gate, "syft", {"syft", "dir:."}, {.cwd = repo, .timeout = 60s, .memory = mebibytes(512)}));
//
// Errors a caller can act on: those of sallyport/jail.h; InvalidProbeName comes before all others. The rules: docs/contract.md,
// C12-C18.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/gate.h"

namespace sallyport {

[[nodiscard]] Result<JailedSubprocessResult> run_external_cli_whole(Gate& gate, std::string_view probe,
                                                                    std::vector<std::string> argv,
                                                                    ExternalCliOptions options,
                                                                    std::stop_token stop = {});

}  // namespace sallyport
