// One path of a workspace against the host's.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "sallyport/result.h"
#include "sallyport/workspace.h"

namespace sallyport::workspace {

// `name` in the directory `parent`, as found.
struct Found {
  int parent = -1;
  const std::string& name;
  const struct stat& info;
};

[[nodiscard]] Result<Change> created(std::string path, const Found& after);
[[nodiscard]] Result<Change> deleted(std::string path, const Found& before);
// nullopt: they differ at most in their times.
[[nodiscard]] Result<std::optional<Change>> compared(std::string path, const Found& before, const Found& after);

}  // namespace sallyport::workspace
