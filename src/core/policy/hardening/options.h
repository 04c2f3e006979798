// Finds options in a command line of another program; when in doubt, it says that the option is there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/policy/hardening/hardeners.h"

namespace sallyport::hardening {

// "--name=value" taken apart. `name` keeps its dashes.
struct LongOption {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
};
[[nodiscard]] LongOption split_long(std::string_view argument);

[[nodiscard]] inline bool is_option(std::string_view argument) { return argument.size() > 1 && argument[0] == '-'; }
[[nodiscard]] inline bool is_long(std::string_view argument) { return argument.starts_with("--"); }

// True when `argument` is the long option `option`, or an abbreviation that a parser might accept for it:
// "--upload-pa".
[[nodiscard]] bool may_abbreviate(std::string_view argument, std::string_view option);

// True when the short flag occurs in a cluster such as "-qz". A flag in `with_value` takes the rest of the cluster as
// its value and ends the search.
[[nodiscard]] bool has_short(std::string_view argument, char flag, std::string_view with_value);

// True when a path names neither the root nor a parent. Pure code cannot follow symlinks; the path starts inside the
// working directory.
[[nodiscard]] bool stays_below(std::string_view path);

[[nodiscard]] Error refused_argument(std::string_view tool, std::string_view argument, std::string_view why,
                                     std::string_view hint);

// argv[0], then the fixed arguments, then the caller's; the first `skip` of these stay before the fixed ones.
[[nodiscard]] std::vector<std::string> insert_after(Argv argv, std::size_t skip,
                                                    std::span<const std::string_view> fixed);

}  // namespace sallyport::hardening
