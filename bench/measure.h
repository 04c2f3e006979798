// The bare way to do what the gate does, and a table of medians: what every benchmark here compares with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sallyport::bench {

// posix_spawn with stdout and stderr on pipes, both read to their end into one small buffer, then waitpid. Bytes read.
std::uint64_t spawn_and_read(const std::vector<std::string>& argv);

struct Contestant {
  std::string name;
  std::function<void()> once;
};

// Runs everybody once per round, so that a noisy second hits all of them, and prints medians and ratios to the first.
void compare(std::vector<Contestant> contestants, int rounds);

}  // namespace sallyport::bench
