#include "workspace/changes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/errors.h"
#include "os/directory.h"
#include "os/openat2.h"
#include "workspace/compare.h"
#include "workspace/merged.h"
#include "workspace/tree_walk.h"

namespace sallyport::workspace {
namespace {

// Each level of the lower tree that continues in the upper keeps a descriptor; real projects have a dozen.
constexpr std::size_t kDeepest = 512;
constexpr std::uint64_t kStatBlock = 512;  // of st_blocks (stat(2))

Result<UniqueFd> open_directory(int parent, const std::string& name) {
  const int fd = openat2_beneath(parent, name.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return fail(system_error("open", name, -fd));
  return UniqueFd(fd);
}

std::string joined(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

class OverlayChanges {
 public:
  OverlayChanges(int upper, int lower) : upper_(upper), lower_(lower) {}

  Result<Changes> find() {
    TreeWalk walk(TRY(open_directory(upper_, ".")));
    levels_.push_back({.lower = TRY(open_directory(lower_, "."))});
    while (TRY(walk.next())) {
      levels_.resize(walk.depth());
      bytes_ += static_cast<std::uint64_t>(walk.info().st_blocks) * kStatBlock;
      TRY(look(walk));
    }
    return Changes{.all = std::move(changes_), .bytes = bytes_};
  }

 private:
  // The lower directory below an upper one; no descriptor if there is none.
  struct Level {
    UniqueFd lower{};
    bool hides = false;  // lower entries that it lacks are deleted
  };

  Status look(TreeWalk& walk) {
    const Level& parent = levels_.back();
    struct stat below{};
    const bool was_there =
        parent.lower && ::fstatat(parent.lower.get(), walk.name().c_str(), &below, AT_SYMLINK_NOFOLLOW) == 0;
    if (parent.lower && !was_there && errno != ENOENT) return fail(system_error("stat", walk.path(), errno));
    const bool is_gone = is_whiteout(walk.info());
    const bool is_directory = S_ISDIR(walk.info().st_mode);
    const bool was_directory = was_there && S_ISDIR(below.st_mode);
    const Found after{.parent = walk.parent(), .name = walk.name(), .info = walk.info()};
    if (was_there) {
      const Found before{.parent = parent.lower.get(), .name = walk.name(), .info = below};
      if (was_directory && (is_gone || !is_directory)) TRY(delete_below(before, walk.path()));
      if (is_gone) {
        changes_.push_back(TRY(deleted(walk.path(), before)));
      } else if (std::optional<Change> change = TRY(compared(walk.path(), before, after))) {
        changes_.push_back(*std::move(change));
      }
    } else if (!is_gone) {
      changes_.push_back(TRY(created(walk.path(), after)));
    }
    return is_directory ? enter(walk, was_directory) : Status();
  }

  Status enter(const TreeWalk& walk, bool was_directory) {
    Level level;
    if (was_directory) {
      if (levels_.size() >= kDeepest) {
        return fail(system_error("list", walk.path(), ELOOP, "directories are nested too deep to compare"));
      }
      const Level& parent = levels_.back();
      OpenedDirectory inner = TRY(open_any_directory(walk.parent(), walk.name()));
      const Result<bool> opaque = is_opaque(inner.fd.get());
      if (inner.was_opened_up) static_cast<void>(::fchmod(inner.fd.get(), inner.info.st_mode & 07777U));
      level.hides = parent.hides || TRY(opaque);
      level.lower = TRY(open_directory(parent.lower.get(), walk.name()));
      if (level.hides) TRY(delete_hidden(level.lower.get(), inner.fd.get(), walk.path()));
    }
    levels_.push_back(std::move(level));
    return {};
  }

  // Reports as deleted what a lower directory has and the upper one, which hides it, lacks.
  Status delete_hidden(int lower, int upper, const std::string& path) {
    for (const std::string& name : TRY(list_directory(lower, path))) {
      struct stat info{};
      if (::fstatat(upper, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) continue;  // the walk reaches it later
      if (::fstatat(lower, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const Found before{.parent = lower, .name = name, .info = info};
      changes_.push_back(TRY(deleted(joined(path, name), before)));
      if (S_ISDIR(info.st_mode)) TRY(delete_below(before, joined(path, name)));
    }
    return {};
  }

  Status delete_below(const Found& directory, const std::string& path) {
    TreeWalk walk(TRY(open_directory(directory.parent, directory.name)), Shut::kSkipped);
    while (TRY(walk.next())) {
      const Found before{.parent = walk.parent(), .name = walk.name(), .info = walk.info()};
      changes_.push_back(TRY(deleted(joined(path, walk.path()), before)));
    }
    return {};
  }

  const int upper_;
  const int lower_;
  std::vector<Level> levels_;
  std::vector<Change> changes_;
  std::uint64_t bytes_ = 0;
};

// Opens a path's directory beneath a root; no descriptor when it is gone.
Result<UniqueFd> open_parent(int root, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const int fd =
      openat2_beneath(root, slash == std::string::npos ? "." : path.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY);
  return fd < 0 ? UniqueFd() : UniqueFd(fd);
}

bool is_as_made(const CopiedFile& made, const struct stat& now) {
  if (S_ISDIR(now.st_mode)) return made.mode == now.st_mode;  // creating files in it changed its times
  return made.inode == now.st_ino && made.ctime_ns == ctime_ns(now) && made.mode == now.st_mode;
}

// `made` is null for a file that the copy did not have.
Status compare_copied(const TreeWalk& walk, int repo, const CopiedFile* made, std::vector<Change>& changes) {
  const Found after{.parent = walk.parent(), .name = walk.name(), .info = walk.info()};
  const UniqueFd parent = TRY(open_parent(repo, walk.path()));
  struct stat info{};
  const bool there = parent && ::fstatat(parent.get(), walk.name().c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (there) {
    const Found before{.parent = parent.get(), .name = walk.name(), .info = info};
    std::optional<Change> change = TRY(compared(walk.path(), before, after));
    if (change) changes.push_back(*std::move(change));
    return {};
  }
  Change change = TRY(created(walk.path(), after));
  if (made != nullptr) {  // deleted on the host since; commit calls that a conflict
    change.kind = ChangeKind::kChanged;
    change.before = type_of_mode(made->mode);
    change.mode_before = made->mode & 07777U;
  }
  changes.push_back(std::move(change));
  return {};
}

}  // namespace

Result<Changes> overlay_changes(int upper, int lower) { return OverlayChanges(upper, lower).find(); }

Result<Changes> copy_changes(int copy, int repo, const Manifest& manifest) {
  Changes found;
  std::vector<Change>& changes = found.all;
  std::unordered_set<std::string_view> seen;
  TreeWalk walk(TRY(open_directory(copy, ".")));
  while (TRY(walk.next())) {
    found.bytes += static_cast<std::uint64_t>(walk.info().st_blocks) * kStatBlock;
    const auto made = manifest.find(walk.path());
    if (made == manifest.end()) {
      TRY(compare_copied(walk, repo, nullptr, changes));
      continue;
    }
    seen.insert(made->first);
    if (!is_as_made(made->second, walk.info())) TRY(compare_copied(walk, repo, &made->second, changes));
  }
  for (const auto& [path, made] : manifest) {
    if (seen.contains(path)) continue;
    const UniqueFd parent = TRY(open_parent(repo, path));
    struct stat info{};
    const std::string name = path.substr(path.rfind('/') + 1);
    // Deleted on both sides, perhaps by a commit.
    if (!parent || ::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    changes.push_back({.path = path,
                       .kind = ChangeKind::kDeleted,
                       .before = type_of_mode(made.mode),
                       .mode_before = made.mode & 07777U});
  }
  return found;
}

void put_in_order(std::vector<Change>& changes) {
  const auto comes_first = [](const Change& a, const Change& b) {
    const bool a_stays = a.kind != ChangeKind::kDeleted;
    const bool b_stays = b.kind != ChangeKind::kDeleted;
    return std::tie(a_stays, a.path) < std::tie(b_stays, b.path);
  };
  if (std::ranges::is_sorted(changes, comes_first)) return;
  // Moving a change is expensive: move each once.
  std::vector<Change*> order;
  order.reserve(changes.size());
  for (Change& change : changes) order.push_back(&change);
  std::ranges::sort(order, [&](const Change* a, const Change* b) { return comes_first(*a, *b); });
  std::vector<Change> sorted;
  sorted.reserve(changes.size());
  for (Change* const change : order) sorted.push_back(std::move(*change));
  changes = std::move(sorted);
}

}  // namespace sallyport::workspace
