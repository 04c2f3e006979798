// The spawn helper's own program, as embedded in this library.
#pragma once

#include <string_view>

namespace sallyport::spawn {

[[nodiscard]] std::string_view helper_image();

}  // namespace sallyport::spawn
