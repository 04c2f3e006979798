// Which guarantees a file system view does not give: decided here, from the view itself, and nowhere else. A path the
// caller adds can take one away; a receipt must not list it then, and who requires it is refused before the start.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/guarantee.h"

namespace sallyport {

struct LostGuarantee {
  Guarantee guarantee{};
  std::string path{};  // the host's, as shown
  std::string why{};   // "it makes a system directory writable"
  bool operator==(const LostGuarantee&) const = default;
};

// At most one entry for each guarantee. `home` is the caller's home directory, canonical, or empty.
[[nodiscard]] std::vector<LostGuarantee> guarantees_lost(std::span<const ViewEntry> view, std::string_view home);

}  // namespace sallyport
