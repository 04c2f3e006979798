// What a build service reads out of a log as commands to itself, made plain text.
//
// GitHub's runner takes a line that begins with "::" (after white space, of any script) for a command, and "##[" anywhere in a
// line (actions/runner, ActionCommand.TryParseV2 and TryParse); Azure's agent "##vso[" and "##[", TeamCity "##teamcity[". A line
// ends at \n or \r. A scanned repo decides much of a tool's output, and must not give such commands.
//
// A backslash goes in between: ":\:", "##\[". Nothing is ever held back, so pieces may be cut anywhere.
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

// The same for a record: "#" behind another becomes \u0023, which a reader of JSON gets as "#".
[[nodiscard]] std::string without_log_commands(std::string json);

}  // namespace sallyport::cli
