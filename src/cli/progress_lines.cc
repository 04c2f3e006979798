#include "cli/progress_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/text/printable.h"

namespace sallyport::cli {

ProgressLines::ProgressLines(std::vector<std::string> names) : is_terminal_(::isatty(STDERR_FILENO) == 1) {
  for (std::string& name : names) lines_.push_back({.name = std::move(name), .state = "waiting"});
}

void ProgressLines::update(std::string_view name, std::string_view state) {
  if (!is_terminal_) return;
  std::string text = drawn_ ? fmt::format("\x1b[{}A", lines_.size()) : std::string();
  for (Line& line : lines_) {
    if (line.name == name) line.state = printable(state);
    text += fmt::format("\x1b[2K{:<16} {}\n", line.name, line.state.substr(0, 60));
  }
  drawn_ = true;
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace sallyport::cli
