// Rejects a value that a cast made: it names no guarantee.
#pragma once

#include "sallyport/guarantee.h"

namespace sallyport {

[[nodiscard]] constexpr bool is_guarantee(Guarantee guarantee) {
  return static_cast<std::size_t>(guarantee) < kGuarantees.size();
}

}  // namespace sallyport
