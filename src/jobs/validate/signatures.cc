#include "jobs/validate/signatures.h"

#include <fmt/format.h>

#include "jobs/report/bounded_json.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {
namespace {

std::vector<std::string> packages_in(const InJson& list) {
  std::vector<std::string> packages;
  for (const InJson& entry : list) {
    const std::string* const name = string_member(entry, "name");
    const std::string* const version = string_member(entry, "version");
    packages.push_back(
        fmt::format("{}@{}", name == nullptr ? "?" : shown(*name), version == nullptr ? "?" : shown(*version)));
  }
  return packages;
}

}  // namespace

std::expected<SignatureReport, std::string> parse_signatures(std::string_view json) {
  const auto value = parse_bounded(json);
  if (!value) return std::unexpected(value.error());
  const InJson* const invalid = array_member(*value, "invalid");
  const InJson* const missing = array_member(*value, "missing");
  if (invalid != nullptr && missing != nullptr) {
    return SignatureReport{.invalid = packages_in(*invalid), .missing = packages_in(*missing)};
  }
  const InJson* const error = member(*value, "error");
  const std::string* const summary = error == nullptr ? nullptr : string_member(*error, "summary");
  return std::unexpected(summary == nullptr ? std::string("npm printed something else") : shown(*summary));
}

}  // namespace sallyport::jobs
