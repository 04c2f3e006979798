// The positive control: the attack with nothing in its way.
#pragma once

#include "attack/runner.h"

namespace sallyport::attack {

[[nodiscard]] Try try_without_gate(const Case& attack, const Surroundings& surroundings);

}  // namespace sallyport::attack
