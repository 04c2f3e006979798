#include "os/mountinfo.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>

#include "core/text/split.h"
#include "core/view/paths.h"
#include "os/file.h"
#include "os/place.h"

namespace sallyport {
namespace {

constexpr ByteCount kMostOfMountinfo = mebibytes(4);  // a host with thousands of mounts still fits

bool is_octal(char digit) { return digit >= '0' && digit <= '7'; }

// mountinfo writes space, tab, newline and backslash as \ooo (proc(5)).
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size() && is_octal(text[at + 1]) && is_octal(text[at + 2]) &&
        is_octal(text[at + 3])) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

// id parent major:minor root point options [tags…] - type source superoptions
std::optional<MountRow> parse_row(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ' ');
  std::size_t dash = 6;
  while (dash < fields.size() && fields[dash] != "-") ++dash;
  if (dash + 3 >= fields.size()) return std::nullopt;
  MountRow row{.device = std::string(fields[2]),
               .root = unescape(fields[3]),
               .point = unescape(fields[4]),
               .type = std::string(fields[dash + 1]),
               .options = std::string(fields[dash + 3])};
  const std::string_view id = fields[0];
  if (std::from_chars(id.data(), id.data() + id.size(), row.id).ec != std::errc()) return std::nullopt;
  return row;
}

std::string joined(const std::string& base, std::string_view below) {
  if (below.empty()) return base;
  return base == "/" ? "/" + std::string(below) : base + "/" + std::string(below);
}

// The rest of `path` below `root`, which contains it.
std::string_view below(const std::string& path, const std::string& root) {
  const std::string_view rest = std::string_view(path).substr(root == "/" ? 0 : root.size());
  return rest.starts_with('/') ? rest.substr(1) : rest;
}

}  // namespace

std::vector<MountRow> parse_mountinfo(std::string_view text) {
  std::vector<MountRow> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (std::optional<MountRow> row = parse_row(line)) rows.push_back(*std::move(row));
  }
  return rows;
}

Result<std::vector<MountRow>> read_mountinfo(const std::filesystem::path& path) {
  Result<std::string> text = read_whole_file(path, kMostOfMountinfo);
  if (text) return parse_mountinfo(*text);
  if (recognise_place() == Place::kNoProc) text.error().hint = advice_for(Place::kNoProc);
  return fail(std::move(text).error());
}

std::optional<std::uint64_t> mount_of(const std::filesystem::path& path) {
  struct statx about{};
  constexpr int kAsItIs = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  if (::statx(AT_FDCWD, path.c_str(), kAsItIs, STATX_MNT_ID, &about) != 0) return std::nullopt;
  return (about.stx_mask & STATX_MNT_ID) != 0 ? std::optional(about.stx_mnt_id) : std::nullopt;
}

std::vector<MountPlace> places_below(std::span<const MountRow> rows, const std::string& path,
                                     std::optional<std::uint64_t> id) {
  std::vector<MountPlace> places;
  for (const MountRow& row : rows) {
    if (id == row.id && is_inside(path, row.point)) {
      places.push_back({.name = path, .device = row.device, .path = joined(row.root, below(path, row.point))});
    } else if (row.point != path && is_inside(row.point, path)) {
      places.push_back({.name = row.point, .device = row.device, .path = row.root});
    }
  }
  return places;
}

std::optional<SecondName> second_name(std::span<const MountPlace> outer, std::span<const MountPlace> inner) {
  for (const MountPlace& around : outer) {
    for (const MountPlace& one : inner) {
      if (one.device != around.device || !is_inside(one.path, around.path)) continue;
      std::string name = joined(around.name, below(one.path, around.path));
      if (name != one.name) return SecondName{.by_outer = std::move(name), .by_inner = one.name};
    }
  }
  return std::nullopt;
}

}  // namespace sallyport
