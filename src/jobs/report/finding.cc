#include "jobs/report/finding.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace sallyport::jobs {
namespace {

constexpr std::array<std::string_view, 5> kSeverityNames = {"info", "low", "medium", "high", "critical"};

auto sort_key(const Finding& finding) { return std::tie(finding.place, finding.rule); }

}  // namespace

std::string_view name_of(Severity severity) { return kSeverityNames.at(static_cast<std::size_t>(severity)); }

std::optional<Severity> severity_named(std::string_view name) {
  const auto* const found = std::ranges::find(kSeverityNames, name);
  if (found == kSeverityNames.end()) return std::nullopt;
  return static_cast<Severity>(found - kSeverityNames.begin());
}

void sort_and_merge(std::vector<Finding>& findings) {
  std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
    if (sort_key(a) != sort_key(b)) return sort_key(a) < sort_key(b);
    return a.suppression.has_value() < b.suppression.has_value();
  });
  const auto repeated =
      std::ranges::unique(findings, [](const Finding& a, const Finding& b) { return sort_key(a) == sort_key(b); });
  findings.erase(repeated.begin(), repeated.end());
}

}  // namespace sallyport::jobs
