// Reads from outside the merged view of an upper and a lower directory that overlayfs shows inside: follows no symlink,
// mounts nothing.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"
#include "sallyport/workspace.h"

namespace sallyport::workspace {

[[nodiscard]] FileType type_of_mode(mode_t mode);
// A name that was deleted: a device 0/0, which only overlayfs itself can make in an overlay (docs.kernel.org,
// overlayfs).
[[nodiscard]] inline bool is_whiteout(const struct stat& info) { return S_ISCHR(info.st_mode) && info.st_rdev == 0; }
// True when an upper directory hides the lower one of its name. An error for a mark that our mounts never make.
[[nodiscard]] Result<bool> is_opaque(int directory);

// A directory of the view; either part may be missing.
struct MergedDir {
  UniqueFd upper{};
  UniqueFd lower{};
};

struct MergedEntry {
  FileType type = FileType::kNone;
  bool in_upper = false;
  struct stat info{};
};

class MergedView {
 public:
  // Borrows both; O_PATH or readable. Without `upper` the view is the lower directory alone.
  MergedView(int upper, int lower) : upper_(upper), lower_(lower) {}

  [[nodiscard]] Result<MergedEntry> look(const std::filesystem::path& relative) const;
  [[nodiscard]] Result<UniqueFd> open_file(const std::filesystem::path& relative) const;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::filesystem::path& relative) const;

 private:
  struct Place {
    MergedDir parent{};
    std::string name{};
  };
  // The directory the last component lies in.
  [[nodiscard]] Result<Place> walk(const std::filesystem::path& relative) const;
  [[nodiscard]] Result<MergedDir> root() const;

  int upper_;
  int lower_;
};

[[nodiscard]] Result<MergedEntry> look_in(const MergedDir& parent, const std::string& name);
[[nodiscard]] Result<MergedDir> enter(const MergedDir& parent, const std::string& name, const MergedEntry& entry);

}  // namespace sallyport::workspace
