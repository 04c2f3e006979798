// The bare way to do what the gate does, and a table of medians: what every benchmark here compares with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sallyport::bench {

struct Finished {
  bool ok = false;
  std::uint64_t bytes = 0;  // of stdout and stderr together
  std::string why{};        // when not ok: for people
};

// Reads both to their end into one small buffer; the last of what `err` said is kept for people.
Finished read_both(int out, int err);

// posix_spawn with stdout and stderr on pipes, both read to their end into one small buffer, then waitpid. Starts in `cwd`
// unless that is empty.
Finished run_command(const std::vector<std::string>& argv, const std::string& cwd = {});

// The same for a program that cannot fail here: when it does, so does the benchmark. Bytes read.
std::uint64_t spawn_and_read(const std::vector<std::string>& argv);

struct Contestant {
  std::string name;
  std::function<void()> once;
};

// Runs each candidate once per round, in a new random order, so that a noisy second hits all of them, and prints
// medians and ratios to the first. The environment variable SALLYPORT_BENCH_TIMES names a file to which every time is
// added as a line of JSON, for tools/bench_check.py.
void compare(const std::string& title, const std::vector<Contestant>& contestants, int rounds);

}  // namespace sallyport::bench
