// One line per scanner on a terminal, redrawn as they start and end. Prints nothing when stderr is no terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sallyport::cli {

class ProgressLines {
 public:
  explicit ProgressLines(std::vector<std::string> names);
  // Not thread-safe: the caller makes one call at a time.
  void update(std::string_view name, std::string_view state);

 private:
  struct Line {
    std::string name;
    std::string state;
  };
  std::vector<Line> lines_;
  bool is_terminal_ = false;
  bool drawn_ = false;
};

}  // namespace sallyport::cli
