// What a person is told about a run that did not simply complete.
#pragma once

#include <string>
#include <string_view>

#include "sallyport/outcome.h"

namespace sallyport::cli {

struct Verdict {
  std::string line{};  // empty: nothing to add to what the tool said itself
  std::string hint{};
};

[[nodiscard]] Verdict verdict_of(const Outcome& outcome, std::string_view tool, int stop_signal);

}  // namespace sallyport::cli
