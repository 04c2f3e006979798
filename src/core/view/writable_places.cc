#include <algorithm>

#include "core/view/fs_view.h"
#include "core/view/paths.h"

namespace sallyport {

std::vector<std::string> writable_places(std::span<const ViewEntry> view) {
  // /var/tmp is the same directory as /tmp, and Landlock's rules are for directories, not names.
  std::vector<std::string> places = {"/dev", "/tmp"};
  for (const ViewEntry& entry : view) {
    // mq_open(3) uses a kernel-internal mount outside every directory: only a rule for its root allows it.
    if (entry.kind == ViewKind::kMqueue) places.push_back(entry.target);
    const bool shows = entry.kind == ViewKind::kBind || entry.kind == ViewKind::kOverlay;
    // An alias is the same directory under another name.
    if (shows && entry.access == RepoAccess::kWritable) places.push_back(entry.target);
  }
  return places;
}

bool writable_places_hold_nothing_protected(std::span<const ViewEntry> view) {
  std::vector<std::string> places = writable_places(view);
  places.emplace_back("/var/tmp");
  return std::ranges::none_of(view, [&places](const ViewEntry& entry) {
    return entry.kind == ViewKind::kBind && entry.access == RepoAccess::kReadOnly &&
           std::ranges::any_of(places, [&](const std::string& place) { return is_inside(entry.target, place); });
  });
}

}  // namespace sallyport
