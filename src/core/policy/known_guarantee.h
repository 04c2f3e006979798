// A value that a cast made is no guarantee: it has no name, and nobody can hold it.
#pragma once

#include "sallyport/guarantee.h"

namespace sallyport {

[[nodiscard]] constexpr bool is_guarantee(Guarantee guarantee) {
  return static_cast<std::size_t>(guarantee) < kGuarantees.size();
}

}  // namespace sallyport
