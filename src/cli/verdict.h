// The message to a person about a run that did not simply complete.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sallyport/jail.h"
#include "sallyport/outcome.h"

namespace sallyport::cli {

// "SIGINT".
[[nodiscard]] std::string signal_name(int number);

struct Verdict {
  std::string line{};  // empty: nothing to add to the tool's own output
  std::string hint{};
};

// `denials` are the run's, in order.
[[nodiscard]] Verdict verdict_of(const Outcome& outcome, std::string_view tool, int stop_signal,
                                 std::span<const Denial> denials = {});

}  // namespace sallyport::cli
