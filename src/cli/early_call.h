// What `sallyport run …` asks for, as far as it matters before libc is ready (early_jail.h).
#pragma once

namespace sallyport::cli {

struct EarlyCall {
  const char* tool = nullptr;    // null: no jail of ours, or a line that is wrong, or one that is not understood
  const char* policy = nullptr;  // null: the built-in set
};

// What it finds, parse_command_line() finds too, or refuses the line.
[[nodiscard]] EarlyCall find_early_call(long argc, const char* const* argv);

}  // namespace sallyport::cli
