// The attack program's bytes: `doctor --attack` works from this program alone.
#pragma once

#include <cstddef>
#include <string_view>

// Symbols of attack_image.S. Hidden, so that their addresses are known without a relocation.
#pragma GCC visibility push(hidden)
extern "C" {
extern const char sallyport_attack_image_begin[];  // NOLINT(readability-identifier-naming)
extern const char sallyport_attack_image_end[];    // NOLINT(readability-identifier-naming)
}
#pragma GCC visibility pop

namespace sallyport::cli {

[[nodiscard]] inline std::string_view attack_image() {
  return {sallyport_attack_image_begin,
          static_cast<std::size_t>(sallyport_attack_image_end - sallyport_attack_image_begin)};
}

}  // namespace sallyport::cli
