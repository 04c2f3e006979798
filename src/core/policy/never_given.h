// What a jail of this library never gives, from the one table that says who gives what (sallyport/guarantee.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "sallyport/guarantee.h"

namespace sallyport {

template <Givers jail>
inline constexpr auto kNeverGivenBy = [] {
  constexpr auto kIsNever = [](const GuaranteeInfo& info) { return !can_give(jail, info.guarantee); };
  std::array<Guarantee, static_cast<std::size_t>(std::ranges::count_if(kGuarantees, kIsNever))> never{};
  std::size_t found = 0;
  for (const GuaranteeInfo& info : kGuarantees) {
    if (kIsNever(info)) never.at(found++) = info.guarantee;
  }
  return never;
}();

}  // namespace sallyport
