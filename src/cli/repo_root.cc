#include "cli/repo_root.h"

#include <system_error>

#include "core/paths.h"

namespace sallyport::cli {

namespace fs = std::filesystem;

fs::path find_repo_root(const fs::path& cwd, const fs::path& home) {
  for (fs::path dir = cwd; dir.has_relative_path(); dir = dir.parent_path()) {
    if (!home.empty() && is_inside(home, dir)) break;
    std::error_code error;
    // A symlink counts as there, wherever it leads: only its presence is asked.
    if (fs::exists(fs::symlink_status(dir / ".git", error))) return dir;
  }
  return cwd;
}

}  // namespace sallyport::cli
