// Whether the long form of a soak is wanted: `make test-deep` sets the variable, `make test` does not.
#pragma once

#include <cstdlib>

namespace sallyport::test {

[[nodiscard]] inline bool deep() { return std::getenv("SALLYPORT_DEEP") != nullptr; }

}  // namespace sallyport::test
