// The jails by the names people give them, on the command line as in tables.
#pragma once

#include <array>
#include <string_view>

#include "sallyport/plan.h"

namespace sallyport {

struct JailName {
  std::string_view name;
  JailKind kind;
};
inline constexpr auto kJailNames =
    std::to_array<JailName>({JailName{"auto", JailKind::kAuto}, JailName{"native", JailKind::kNative},
                             JailName{"bwrap", JailKind::kBwrap}, JailName{"none", JailKind::kNone}});

[[nodiscard]] constexpr std::string_view name_of(const JailKind& kind) { return kind.name(); }

}  // namespace sallyport
