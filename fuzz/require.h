// A property that does not hold is a crash, which is all libFuzzer looks for.
#pragma once

inline void require(bool holds) {
  if (!holds) __builtin_trap();
}
