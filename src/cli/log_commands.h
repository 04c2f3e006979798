// Turns what a build service would read as commands in a log into plain text.
//
// GitHub's runner takes a line that begins with "::" (after white space, of any script) for a command, and "##[" anywhere in a
// line (actions/runner, ActionCommand.TryParseV2 and TryParse); Azure's agent "##vso[" and "##[", TeamCity "##teamcity[". A line
// ends at \n or \r. A scanned repo decides much of a tool's output, and must not give such commands.
//
// It inserts a backslash: ":\:", "##\[". It holds no bytes back, so pieces may end anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport::cli {

class LogCommandFilter {
 public:
  [[nodiscard]] std::string filter(std::string_view bytes);

 private:
  enum class Line : std::uint8_t { kOnlyBlanks, kOneColon, kText };
  Line line_ = Line::kOnlyBlanks;
  unsigned hashes_ = 0;  // in a row, just before
};

// The same for a record: "#" after another becomes \u0023, which a JSON reader turns into "#".
[[nodiscard]] std::string without_log_commands(std::string json);

}  // namespace sallyport::cli
