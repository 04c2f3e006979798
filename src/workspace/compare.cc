#include "workspace/compare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>

#include "core/errors.h"
#include "os/openat2.h"
#include "workspace/merged.h"

namespace sallyport::workspace {
namespace {

Result<std::string> link_text(const Found& link) {
  std::array<char, PATH_MAX + 1> text{};
  const ssize_t size = ::readlinkat(link.parent, link.name.c_str(), text.data(), text.size());
  if (size < 0) return fail(system_error("read the link", link.name, errno));
  return std::string(text.data(), static_cast<std::size_t>(size));
}

// Overlayfs's own marks do not belong to the file.
bool is_own_mark(std::string_view name) {
  return name.starts_with("user.overlay.") || name.starts_with("trusted.") || name == "security.selinux";
}

// Before Linux 6.13 no call reads the attributes of a name in a directory without following it, but a descriptor's path
// in /proc gets there through no untrusted symlink.
std::map<std::string, std::string> attributes_of(const Found& file) {
  std::map<std::string, std::string> attributes;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", file.parent, file.name);
  std::array<char, 65536> names{};
  const ssize_t size = ::llistxattr(path.c_str(), names.data(), names.size());
  if (size < 0 && errno == ERANGE) return {{"more than can be listed", ""}};
  for (std::string_view rest(names.data(), size < 0 ? 0 : static_cast<std::size_t>(size)); !rest.empty();) {
    const std::string name(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (is_own_mark(name)) continue;
    std::string value(65536, '\0');
    const ssize_t length = ::lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
    value.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    attributes.emplace(name, std::move(value));
  }
  return attributes;
}

// What cannot be read counts as different.
bool same_content(const Found& before, const Found& after) {
  if (before.info.st_size != after.info.st_size) return false;
  const UniqueFd a(openat2_beneath(before.parent, before.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW));
  const UniqueFd b(openat2_beneath(after.parent, after.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW));
  if (!a || !b) return false;
  std::array<char, 65536> left{};
  std::array<char, 65536> right{};
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(a.get(), left.data(), left.size(), at);
    const ssize_t other = ::pread(b.get(), right.data(), right.size(), at);
    if (got < 0 || got != other) return false;
    if (got == 0) return true;
    if (std::string_view(left.data(), static_cast<std::size_t>(got)) !=
        std::string_view(right.data(), static_cast<std::size_t>(got))) {
      return false;
    }
    at += got;
  }
}

Status put_before(const Found& found, Change& change) {
  change.before = type_of_mode(found.info.st_mode);
  change.mode_before = found.info.st_mode & 07777U;
  if (change.before == FileType::kFile) change.size_before = static_cast<std::uint64_t>(found.info.st_size);
  if (change.before == FileType::kSymlink) change.link_before = TRY(link_text(found));
  return {};
}

Status put_after(const Found& found, Change& change) {
  change.after = type_of_mode(found.info.st_mode);
  change.mode_after = found.info.st_mode & 07777U;
  if (change.after == FileType::kFile) change.size_after = static_cast<std::uint64_t>(found.info.st_size);
  if (change.after == FileType::kSymlink) change.link_after = TRY(link_text(found));
  return {};
}

}  // namespace

Result<Change> created(std::string path, const Found& after) {
  Change change{.path = std::move(path), .kind = ChangeKind::kCreated};
  TRY(put_after(after, change));
  return change;
}

Result<Change> deleted(std::string path, const Found& before) {
  Change change{.path = std::move(path), .kind = ChangeKind::kDeleted};
  TRY(put_before(before, change));
  return change;
}

Result<std::optional<Change>> compared(std::string path, const Found& before, const Found& after) {
  Change change{.path = std::move(path), .kind = ChangeKind::kReplaced};
  TRY(put_before(before, change));
  TRY(put_after(after, change));
  if (change.before != change.after) return std::optional(std::move(change));
  const bool is_file = change.after == FileType::kFile;
  const bool is_link = change.after == FileType::kSymlink;
  change.xattrs_changed = !is_link && attributes_of(before) != attributes_of(after);
  const bool content = is_file ? !same_content(before, after) : change.link_before != change.link_after;
  const bool mode = !is_link && change.mode_before != change.mode_after;
  const bool device = change.after == FileType::kDevice && before.info.st_rdev != after.info.st_rdev;
  if (!content && !mode && !device && !change.xattrs_changed) return std::optional<Change>();
  change.kind = content || device ? ChangeKind::kChanged : ChangeKind::kMetadata;
  return std::optional(std::move(change));
}

}  // namespace sallyport::workspace
