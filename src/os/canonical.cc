#include "os/canonical.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "core/errors.h"
#include "core/text/printable.h"

namespace sallyport {
namespace {

struct Free {
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): realpath() allocates so
  void operator()(char* text) const { std::free(text); }
};

// InvalidRequest for a mistake of the caller, SystemError for everything else.
Error lookup_error(std::string_view field, const std::string& path, int error_number) {
  const std::string shown = printable(path);
  switch (error_number) {
    case ENOENT:
      return invalid_request(field, shown + " does not exist", "check the spelling, or create it first");
    case ENOTDIR:
      return invalid_request(field, shown + " is not a directory", "name a directory");
    case ELOOP:
      return invalid_request(field, shown + " is a symlink that leads nowhere", "name the directory itself");
    case ENAMETOOLONG:
      return invalid_request(field, "path is too long", "at most 4095 bytes, 255 per component");
    default:
      return system_error("open", path, error_number,
                          error_number == EACCES ? "give this user read and search permission on it and its parents"
                                                 : std::string_view{});
  }
}

}  // namespace

Result<std::filesystem::path> canonical_existing(const std::filesystem::path& path, std::string_view field) {
  const std::string& name = path.native();
  if (name.empty())
    return fail(
        invalid_request(field, "no directory was named, or the current one is gone", "name an existing directory"));
  if (name.find('\0') != std::string::npos) {
    return fail(invalid_request(field, "contains a NUL byte", "name an existing directory"));
  }
  const std::unique_ptr<char, Free> resolved(::realpath(name.c_str(), nullptr));
  if (!resolved) return fail(lookup_error(field, name, errno));
  return std::filesystem::path(resolved.get());
}

Result<std::filesystem::path> absolute_from_here(const std::filesystem::path& path) {
  if (path.is_absolute()) return path;
  std::error_code error;
  std::filesystem::path result = std::filesystem::current_path(error);
  if (error) return fail(system_error("find", path.native(), error.value(), "name it by an absolute path"));
  bool climbs = true;
  for (const std::filesystem::path& part : path) {
    climbs = climbs && (part == ".." || part == ".");
    if (!climbs) {
      result /= part;
    } else if (part == "..") {
      result = result.parent_path();
    }
  }
  return result;
}

Result<ResolvedPath> resolve_existing(const std::filesystem::path& path, std::string_view field) {
  const std::filesystem::path canonical = TRY(canonical_existing(path, field));
  constexpr std::size_t kMostLinks = 40;  // the kernel's MAXSYMLINKS
  ResolvedPath resolved{.path = "/", .links = {}};
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  std::vector<std::filesystem::path> pending(absolute.begin(), absolute.end());
  std::ranges::reverse(pending);
  while (!pending.empty() && resolved.links.size() <= kMostLinks) {
    const std::filesystem::path name = std::move(pending.back());
    pending.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "/" || name == "..") {
      resolved.path = name == "/" ? name : resolved.path.parent_path();
      continue;
    }
    resolved.path /= name;
    const std::filesystem::path target = std::filesystem::read_symlink(resolved.path, error);
    if (error) continue;  // no symlink
    resolved.links.push_back(resolved.path);
    resolved.path = resolved.path.parent_path();
    const std::vector<std::filesystem::path> names(target.begin(), target.end());
    pending.insert(pending.end(), names.rbegin(), names.rend());
  }
  if (resolved.path != canonical) {
    return fail(invalid_request(field, printable(path.native()) + " changed while it was resolved", "try again"));
  }
  return resolved;
}

Result<std::filesystem::path> canonical_directory(const std::filesystem::path& path, std::string_view field) {
  std::filesystem::path resolved = TRY(canonical_existing(path, field));
  struct stat info{};
  if (::stat(resolved.c_str(), &info) != 0) return fail(lookup_error(field, resolved.native(), errno));
  if (!S_ISDIR(info.st_mode)) return fail(lookup_error(field, resolved.native(), ENOTDIR));
  // Use effective ids, like the later open.
  if (::faccessat(AT_FDCWD, resolved.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
    return fail(lookup_error(field, resolved.native(), errno));
  }
  return resolved;
}

}  // namespace sallyport
