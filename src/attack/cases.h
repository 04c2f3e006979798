// Every attack, by family, from the collection of advisories with which the project started (docs/attacks.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "attack/case.h"
#include "attack/cases_egress.h"
#include "attack/cases_files.h"
#include "attack/cases_kernel.h"
#include "attack/cases_limits.h"

namespace sallyport::attack {

namespace detail {
template <std::size_t... Sizes>
consteval auto in_one_table(const std::array<Case, Sizes>&... families) {
  std::array<Case, (Sizes + ...)> all{};
  auto at = all.begin();
  ((at = std::ranges::copy(families, at).out), ...);
  return all;
}
}  // namespace detail

inline constexpr auto kCases =
    detail::in_one_table(detail::kFileCases, detail::kKernelCases, detail::kEgressCases, detail::kLimitCases);

consteval bool every_guarantee_has_an_attack() {
  return std::ranges::all_of(kGuarantees, [](const GuaranteeInfo& info) {
    const auto guards = [&](const auto& entry) { return entry.guarantee == info.guarantee; };
    return std::ranges::any_of(kCases, guards);
  });
}
static_assert(every_guarantee_has_an_attack(), "a guarantee needs an attack that breaks it when it is absent");
static_assert(kCases.size() >= 60);

[[nodiscard]] constexpr const Case* find_case(std::string_view name) {
  const auto found = std::ranges::find(kCases, name, &Case::name);
  return found == kCases.end() ? nullptr : &*found;
}

}  // namespace sallyport::attack
