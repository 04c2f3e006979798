#include "workspace/merged.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "os/directory.h"
#include "os/openat2.h"

namespace sallyport::workspace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOpaque = "user.overlay.opaque";

Result<UniqueFd> open_directory_in(int parent, const std::string& name) {
  const int fd = openat2_beneath(parent, name.c_str(), O_RDONLY | O_DIRECTORY);
  if (fd < 0) return fail(system_error("open", name, -fd));
  return UniqueFd(fd);
}

Result<std::vector<std::string>> components_of(const fs::path& relative) {
  std::vector<std::string> components;
  if (relative.native().find('\0') != std::string::npos || relative.is_absolute()) {
    return fail(invalid_request("path", "must be relative to the workspace", "name a file beneath its root"));
  }
  for (const fs::path& component : relative) {
    if (component.empty() || component == ".") continue;
    if (component == "..") return fail(system_error("open", relative.native(), EXDEV));
    components.push_back(component.native());
  }
  return components;
}

}  // namespace

FileType type_of_mode(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileType::kFile;
    case S_IFDIR:
      return FileType::kDirectory;
    case S_IFLNK:
      return FileType::kSymlink;
    case S_IFIFO:
      return FileType::kFifo;
    case S_IFSOCK:
      return FileType::kSocket;
    default:
      return FileType::kDevice;
  }
}

Result<bool> is_opaque(int directory) {
  std::array<char, 8> value{};
  const ssize_t size = ::fgetxattr(directory, kOpaque, value.data(), value.size());
  if (size < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) return false;
  if (size < 0) return fail(system_error("read the marks of", "an upper directory", errno));
  // "x" would mean another mark for deletions, which overlayfs does not use in our mounts.
  if (size == 1 && value[0] == 'y') return true;
  return fail(system_error("read the marks of", "an upper directory", EUCLEAN));
}

Result<MergedEntry> look_in(const MergedDir& parent, const std::string& name) {
  MergedEntry entry;
  for (const int side : {parent.upper.get(), parent.lower.get()}) {
    if (side < 0) continue;
    if (::fstatat(side, name.c_str(), &entry.info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return fail(system_error("stat", name, errno));
    }
    entry.in_upper = side == parent.upper.get();
    if (entry.in_upper && is_whiteout(entry.info)) return MergedEntry{};
    entry.type = type_of_mode(entry.info.st_mode);
    return entry;
  }
  return MergedEntry{};
}

Result<MergedDir> enter(const MergedDir& parent, const std::string& name, const MergedEntry& entry) {
  MergedDir inner;
  if (!entry.in_upper) {
    inner.lower = TRY(open_directory_in(parent.lower.get(), name));
    return inner;
  }
  inner.upper = TRY(open_directory_in(parent.upper.get(), name));
  if (!parent.lower || TRY(is_opaque(inner.upper.get()))) return inner;
  struct stat below{};
  const bool there = ::fstatat(parent.lower.get(), name.c_str(), &below, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && S_ISDIR(below.st_mode)) inner.lower = TRY(open_directory_in(parent.lower.get(), name));
  return inner;
}

Result<MergedDir> MergedView::root() const {
  MergedDir top;
  if (upper_ >= 0) top.upper = TRY(open_directory_in(upper_, "."));
  if (lower_ >= 0) top.lower = TRY(open_directory_in(lower_, "."));
  return top;
}

Result<MergedView::Place> MergedView::walk(const fs::path& relative) const {
  std::vector<std::string> components = TRY(components_of(relative));
  Place place{.parent = TRY(root())};
  if (components.empty()) return place;
  place.name = std::move(components.back());
  components.pop_back();
  for (const std::string& component : components) {
    const MergedEntry entry = TRY(look_in(place.parent, component));
    if (entry.type != FileType::kDirectory) {
      const int why = entry.type == FileType::kNone ? ENOENT : entry.type == FileType::kSymlink ? ELOOP : ENOTDIR;
      return fail(system_error("open", relative.native(), why));
    }
    place.parent = TRY(enter(place.parent, component, entry));
  }
  return place;
}

Result<MergedEntry> MergedView::look(const fs::path& relative) const {
  Result<Place> place = walk(relative);
  if (!place) {
    const auto* const why = place.error().as<SystemError>();
    const bool absent = why != nullptr && (why->error_number == ENOENT || why->error_number == ENOTDIR);
    if (absent) return MergedEntry{};
    return fail(std::move(place).error());
  }
  if (!place->name.empty()) return look_in(place->parent, place->name);
  MergedEntry root{.type = FileType::kDirectory, .in_upper = static_cast<bool>(place->parent.upper)};
  const int fd = root.in_upper ? place->parent.upper.get() : place->parent.lower.get();
  if (::fstat(fd, &root.info) != 0) return fail(system_error("stat", "the workspace", errno));
  return root;
}

Result<UniqueFd> MergedView::open_file(const fs::path& relative) const {
  const Place place = TRY(walk(relative));
  if (place.name.empty()) return fail(invalid_request("path", "is empty", "name a file"));
  const MergedEntry entry = TRY(look_in(place.parent, place.name));
  if (entry.type == FileType::kNone) return fail(system_error("open", relative.native(), ENOENT));
  if (entry.type == FileType::kSymlink) return fail(system_error("open", relative.native(), ELOOP));
  if (entry.type != FileType::kFile) {
    return fail(invalid_request(relative.native(), "is no plain file", "only regular files are read back"));
  }
  const int side = entry.in_upper ? place.parent.upper.get() : place.parent.lower.get();
  const int fd = openat2_beneath(side, place.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail(system_error("open", relative.native(), -fd));
  UniqueFd opened(fd);
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(system_error("stat", relative.native(), errno));
  if (info.st_ino != entry.info.st_ino || info.st_dev != entry.info.st_dev || !S_ISREG(info.st_mode)) {
    return fail(system_error("open", relative.native(), EAGAIN, "the file was replaced while it was being opened"));
  }
  return opened;
}

Result<std::vector<std::string>> MergedView::list(const fs::path& relative) const {
  Place place = TRY(walk(relative));
  if (!place.name.empty()) {
    const MergedEntry entry = TRY(look_in(place.parent, place.name));
    if (entry.type == FileType::kNone) return fail(system_error("list", relative.native(), ENOENT));
    if (entry.type == FileType::kSymlink) return fail(system_error("list", relative.native(), ELOOP));
    if (entry.type != FileType::kDirectory) return fail(system_error("list", relative.native(), ENOTDIR));
    place.parent = TRY(enter(place.parent, place.name, entry));
  }
  std::vector<std::string> candidates;
  for (const int side : {place.parent.upper.get(), place.parent.lower.get()}) {
    if (side < 0) continue;
    const std::vector<std::string> names = TRY(list_directory(side, relative.native()));
    candidates.insert(candidates.end(), names.begin(), names.end());
  }
  std::ranges::sort(candidates);
  candidates.erase(std::ranges::unique(candidates).begin(), candidates.end());
  std::vector<std::string> names;
  for (std::string& name : candidates) {
    if (TRY(look_in(place.parent, name)).type != FileType::kNone) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace sallyport::workspace
