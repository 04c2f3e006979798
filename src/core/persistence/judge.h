// What of a list of changes would run later, outside a jail: the table of names, and what only the content tells.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sallyport/workspace.h"

namespace sallyport::persistence {

enum class Side { kBefore, kAfter };
// The whole content of a changed file; nullopt when it is none, or too large to be what its name says.
using ReadSide = std::function<std::optional<std::string>(const Change&, Side)>;

// In the order of the changes. Of deletions only a package manager's settings and lock files: what is gone does not run, but those
// may have kept something from it.
[[nodiscard]] std::vector<PersistenceFinding> judge(std::span<const Change> changes, const ReadSide& read);

// The findings that only the content of a file tells; each under its path.
struct Found {
  std::string rule{};
  std::string reason{};
  PersistenceSeverity severity{};
};
[[nodiscard]] std::vector<Found> judge_package_json(const std::optional<std::string>& before,
                                                    const std::optional<std::string>& after);
[[nodiscard]] std::vector<Found> judge_package_lock(const std::optional<std::string>& before,
                                                    const std::optional<std::string>& after);
// `path` is that of the configuration file.
[[nodiscard]] std::vector<Found> judge_git_config(const std::string& path, const std::optional<std::string>& before,
                                                  const std::optional<std::string>& after);
// Of a file that git may be led to and has no place of its own: found when it names a program or another file.
[[nodiscard]] std::vector<Found> judge_possible_git_config(const std::optional<std::string>& after);

}  // namespace sallyport::persistence
