// The one file of exceptions to lint, named by the caller, never found by searching. A line is
//
//   RULE PATH REASON…          e.g.  c-process src/spawn/** the one layer that may start processes
//
// RULE is a rule's name or *. PATH is relative to the scanned root: * and ? stay within one directory, ** does not. The
// reason is mandatory. A line that begins with # is a comment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/finding.h"
#include "sallyport/result.h"

namespace sallyport::jobs {

struct Exception {
  std::string rule{};
  std::string path{};
  std::string reason{};
  unsigned line = 0;
};

// PolicyError with line and column. A rule that does not exist is an error too: it is a typo that would never match.
[[nodiscard]] Result<std::vector<Exception>> parse_exceptions(std::string_view text, std::string_view file);

[[nodiscard]] bool path_matches(std::string_view pattern, std::string_view path);

}  // namespace sallyport::jobs
