// The file system that one run will see, and the identity that each of the caller's paths had when it was checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fs_view.h"
#include "core/view/view_guarantees.h"

namespace sallyport {

// The identity that a host path must still have when the jail opens it; device as statx gives it (major << 32 | minor).
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct HostView {
  std::vector<ViewEntry> entries{};
  std::map<std::string, FileIdentity> identities{};
  std::vector<LostGuarantee> lost{};  // because of what the view shows

  // nullopt for a system path, which only root can swap.
  [[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path) const {
    const auto found = identities.find(path);
    if (found == identities.end()) return std::nullopt;
    return found->second;
  }
};

}  // namespace sallyport
