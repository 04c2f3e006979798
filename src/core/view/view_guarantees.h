// Decides, from the view itself and only here, which guarantees a file system view does not give. A path that the
// caller adds can remove one; then a receipt must not list it, and the gate refuses a call that requires it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/fs_view.h"
#include "sallyport/guarantee.h"

namespace sallyport {

// Where a host keeps its programs and their configuration. A fixed list, not one host's layout: a path keeps its
// meaning where a directory happens to be missing.
inline constexpr auto kSystemDirectories = std::to_array<std::string_view>(
    {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/etc", "/boot"});
inline constexpr auto kHomeDirectories = std::to_array<std::string_view>({"/home", "/root", "/run"});

struct LostGuarantee {
  Guarantee guarantee{};
  std::string path{};  // the host's path
  std::string why{};   // "it makes a system directory writable"
  bool operator==(const LostGuarantee&) const = default;
};

// Returns at most one entry for each guarantee. `home` is the caller's home directory, canonical, or empty.
[[nodiscard]] std::vector<LostGuarantee> guarantees_lost(std::span<const ViewEntry> view, std::string_view home);

}  // namespace sallyport
