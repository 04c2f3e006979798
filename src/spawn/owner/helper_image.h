// The spawn helper's own program, as embedded in this library.
#pragma once

#include <cstddef>
#include <string_view>

// Symbols of helper_image.S. Hidden, so that their addresses are known without a relocation.
#pragma GCC visibility push(hidden)
extern "C" {
extern const char sallyport_helper_image_begin[];  // NOLINT(readability-identifier-naming)
extern const char sallyport_helper_image_end[];    // NOLINT(readability-identifier-naming)
}
#pragma GCC visibility pop

namespace sallyport::spawn {

[[nodiscard]] inline std::string_view helper_image() {
  return {sallyport_helper_image_begin,
          static_cast<std::size_t>(sallyport_helper_image_end - sallyport_helper_image_begin)};
}

}  // namespace sallyport::spawn
