// GitHub's primaryLocationLineHash: the same line keeps its alert when lines move above it. A rolling 64-bit hash with
// multiplier 37 over 100 UTF-16 units from the start of each line; blanks and tabs do not count, CR LF and CR are LF.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sallyport::jobs {

// One "hex:occurrence" per line; element 0 is line 1. A file always has at least one line.
[[nodiscard]] std::vector<std::string> line_hashes(std::string_view content);

}  // namespace sallyport::jobs
