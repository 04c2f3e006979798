// Rejects values that a cast made: they name no guarantee, or no mechanism.
#pragma once

#include "sallyport/guarantee.h"
#include "sallyport/mechanism.h"

namespace sallyport {

[[nodiscard]] constexpr bool is_guarantee(Guarantee guarantee) {
  return static_cast<std::size_t>(guarantee) < kGuarantees.size();
}

[[nodiscard]] constexpr bool is_mechanism(Mechanism mechanism) {
  return static_cast<std::size_t>(mechanism) < kMechanisms.size();
}

}  // namespace sallyport
