// Which guarantees a file system view does not give: decided here, from the view itself, and nowhere else. A path the
// caller adds can take one away; a receipt must not list it then, and who requires it is refused before the start.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/guarantee.h"

namespace sallyport {

// Where a host keeps what it starts and what configures that. Named here and not taken from one host's layout: a path
// keeps its meaning where a directory happens to be missing.
inline constexpr auto kSystemDirectories = std::to_array<std::string_view>(
    {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/etc", "/boot"});
inline constexpr auto kHomeDirectories = std::to_array<std::string_view>({"/home", "/root", "/run"});

struct LostGuarantee {
  Guarantee guarantee{};
  std::string path{};  // the host's, as shown
  std::string why{};   // "it makes a system directory writable"
  bool operator==(const LostGuarantee&) const = default;
};

// At most one entry for each guarantee. `home` is the caller's home directory, canonical, or empty.
[[nodiscard]] std::vector<LostGuarantee> guarantees_lost(std::span<const ViewEntry> view, std::string_view home);

}  // namespace sallyport
