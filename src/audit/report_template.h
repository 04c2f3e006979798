// The fixed parts of the report's page.
#pragma once

#include <string_view>

namespace sallyport::audit {

[[nodiscard]] std::string_view report_style();
[[nodiscard]] std::string_view report_body();
[[nodiscard]] std::string_view report_script();

}  // namespace sallyport::audit
