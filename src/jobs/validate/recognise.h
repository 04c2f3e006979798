// Decides from a repo's files whether npm installs it. Recognises pnpm, yarn and bun, and does not treat them as npm.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobs/validate/lockfile.h"
#include "jobs/validate/verdict.h"
#include "sallyport/sandboxed_path.h"

namespace sallyport::jobs {

struct NpmProject {
  Manifest manifest{};
  std::string lock_path{};  // "npm-shrinkwrap.json" before "package-lock.json", as npm chooses; empty: there is none
  std::string lock_text{};
  std::vector<std::string> other_locks{};  // of other package managers, beside npm's
};

// The project, or NotNpm, or Failed(lock) for files that cannot be read as what they are: a symlink, a FIFO, no JSON.
struct Unreadable {
  std::string why{};
};
[[nodiscard]] std::variant<NpmProject, NotNpm, Unreadable> recognise(const SandboxedPath& repo);

}  // namespace sallyport::jobs
