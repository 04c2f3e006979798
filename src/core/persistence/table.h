// Which paths would make something run later, outside a jail, as data. One row for each name, directory or ending; a rule may
// have many rows. docs/workspaces.md lists the rules.
#pragma once

#include <span>
#include <string_view>

#include "sallyport/workspace.h"

namespace sallyport::persistence {

inline constexpr std::string_view kGitPointer = "git-pointer";

enum class Where {
  kName,    // the last component is `text`
  kBelow,   // the path lies below components `text`, at any depth of the repo
  kEnding,  // the last component ends with `text`
  kStart,   // the last component starts with `text`
};

struct Row {
  std::string_view rule;
  PersistenceSeverity severity;
  Where where;
  std::string_view text;  // lower case: a file system may ignore case
  std::string_view reason;
};

[[nodiscard]] std::span<const Row> rows();

}  // namespace sallyport::persistence
