// A verb of the program: one file in verbs/, and its two lines in verbs.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/environment.h"
#include "cli/format.h"
#include "sallyport/result.h"

namespace sallyport::cli {

using Args = std::span<const std::string>;

// What the verb does after its arguments are parsed. Returns the process's exit code.
using Action = std::function<int(const Environment&)>;

struct Verb {
  std::string_view name;
  std::string_view summary;  // its line in the overview
  std::string_view page;     // its screen of help: at most 24 lines of 80 columns
  // Pure: touches no file, no environment, no clock. An empty action means that the page was asked for. `format` becomes the
  // one that was asked for, also by arguments that are wrong elsewhere: the error is reported in it.
  Result<Action> (*parse)(Args args, Format& format);
};

// In the order of the overview.
[[nodiscard]] std::span<const Verb* const> verbs();
// Null for an unknown name.
[[nodiscard]] const Verb* find_verb(std::string_view name);

}  // namespace sallyport::cli
