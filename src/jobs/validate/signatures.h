// What `npm audit signatures --json` printed. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::jobs {

struct SignatureReport {
  std::vector<std::string> invalid{};  // "name@version"
  std::vector<std::string> missing{};
};

// Anything else than the two lists is no answer: npm could not check.
[[nodiscard]] std::expected<SignatureReport, std::string> parse_signatures(std::string_view json);

}  // namespace sallyport::jobs
