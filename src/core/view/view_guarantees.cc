#include "core/view/view_guarantees.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/view/paths.h"

namespace sallyport {
namespace {

constexpr auto kTemporary = std::to_array<std::string_view>({"/tmp", "/var/tmp", "/dev/shm"});

template <class Roots>
bool inside_any(const std::string& path, const Roots& roots) {
  return std::ranges::any_of(roots, [&](std::string_view root) { return is_inside(path, root); });
}

template <class Places>
bool holds_any(const std::string& path, const Places& places) {
  return std::ranges::any_of(places, [&](std::string_view place) { return is_inside(place, path); });
}

class Losses {
 public:
  void add(Guarantee guarantee, const ViewEntry& entry, std::string_view why) {
    const auto same = [&](const LostGuarantee& lost) { return lost.guarantee == guarantee; };
    if (std::ranges::any_of(found_, same)) return;
    found_.push_back({.guarantee = guarantee, .path = entry.source, .why = std::string(why)});
  }
  [[nodiscard]] std::vector<LostGuarantee> take() && { return std::move(found_); }

 private:
  std::vector<LostGuarantee> found_;
};

// Judges the host's path: the alias /work shows the same file.
void judge(const ViewEntry& entry, Losses& losses) {
  const std::string& path = entry.source;
  // An overlay only reads its lower directory.
  const bool writable = entry.access == RepoAccess::kWritable && entry.kind == ViewKind::kBind;
  if (writable && (inside_any(path, kSystemDirectories) || holds_any(path, kSystemDirectories))) {
    losses.add(Guarantee::kFsReadonlySystem, entry, "it makes a part of the system writable");
  }
  // A read-only path strictly inside only adds that path, like one inside a home directory: the rest stays the run's
  // own.
  if (holds_any(path, kTemporary)) {
    losses.add(Guarantee::kFsPrivateTmp, entry, "it shows the host's temporary files");
  } else if (writable && inside_any(path, kTemporary)) {
    losses.add(Guarantee::kFsPrivateTmp, entry, "what is written there stays in the host's temporary directory");
  }
  if (holds_any(path, kHomeDirectories))
    losses.add(Guarantee::kFsHomeHidden, entry, "it shows home directories or /run");
}

}  // namespace

std::vector<LostGuarantee> guarantees_lost(std::span<const ViewEntry> view, std::string_view home) {
  Losses losses;
  for (const ViewEntry& entry : view) {
    if (entry.kind != ViewKind::kBind && entry.kind != ViewKind::kOverlay) continue;
    if (!entry.of_base) judge(entry, losses);
    // Check entries of the base too: a service's home can be /opt/service, which every jail shows.
    if (!home.empty() && is_inside(home, entry.source)) {
      losses.add(Guarantee::kFsHomeHidden, entry, fmt::format("it shows the home directory {}", home));
    }
  }
  return std::move(losses).take();
}

}  // namespace sallyport
