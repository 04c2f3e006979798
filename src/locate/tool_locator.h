// From an allowlisted name to the exact file that will be executed.
//
// The search path comes from the composition root. It skips entries that are relative, missing, inside the analysed
// repo or writable by another user. It also skips a candidate in a good directory that breaks a rule of trust.h itself,
// cannot be executed, or is not the file the policy pinned. The first good candidate wins; without one, the error says why
// the first bad one was refused:
//   UntrustedToolError  found, but another user could have put it there, or its SHA-256 is not the policy's
//   ToolNotRunnable     found and trusted, but neither an ELF program nor a script whose interpreter we can pin
//   ToolMissingError    nowhere
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "locate/hash_cache.h"
#include "sallyport/allowlist.h"
#include "sallyport/receipt.h"
#include "sallyport/result.h"
#include "sallyport/unique_fd.h"

namespace sallyport {

// The executed file is the checked file: run `exe` (execveat with AT_EMPTY_PATH) with
//   argv = { argv0, argv_prefix…, the caller's arguments… }.
struct PinnedTool {
  UniqueFd exe;                              // O_RDONLY and CLOEXEC: the tool, or the interpreter of a #! script
  BinaryIdentity binary;                     // the tool itself, script or not
  std::vector<BinaryIdentity> interpreters;  // set for a script
  std::string argv0;                         // the tool's name; its path when it is behind a version manager's program;
                                             // for a script the interpreter's path as it was found, which is how a
                                             // Python venv finds its packages
  std::vector<std::string> argv_prefix;      // for a script: the interpreter's arguments and the script's path
  std::string exec_path;                     // the canonical path `exe` was opened at
  std::vector<std::filesystem::path> names{};  // by which the tool and its interpreter were found, symlinks and all
};

// `repo` must be canonical. Thread-safe.
[[nodiscard]] Result<PinnedTool> locate(const ToolEntry& tool, std::span<const std::filesystem::path> search_path,
                                        const std::filesystem::path& repo, HashCache& hashes);

}  // namespace sallyport
