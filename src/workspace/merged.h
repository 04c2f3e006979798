// The merged view of an upper and a lower directory, read from outside as overlayfs shows it inside: no symlink is followed, and
// nothing is mounted.
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
// A name that was deleted: a device 0/0, which overlayfs makes and nobody else can through it (docs.kernel.org, overlayfs).
[[nodiscard]] inline bool is_whiteout(const struct stat& info) { return S_ISCHR(info.st_mode) && info.st_rdev == 0; }
// Whether an upper directory hides the lower one of its name. An error for a mark that we never have made.
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
  // Both borrowed, O_PATH or readable. Without `upper` the lower directory alone is the view.
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
