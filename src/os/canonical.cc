#include "os/canonical.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "core/errors.h"
#include "core/printable.h"

namespace sallyport {
namespace {

struct Free {
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): realpath() allocates so
  void operator()(char* text) const { std::free(text); }
};

// A mistake of the caller is InvalidRequest; everything else is the system's.
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
  if (name.empty()) return fail(invalid_request(field, "is empty", "name an existing directory"));
  if (name.find('\0') != std::string::npos) {
    return fail(invalid_request(field, "contains a NUL byte", "name an existing directory"));
  }
  const std::unique_ptr<char, Free> resolved(::realpath(name.c_str(), nullptr));
  if (!resolved) return fail(lookup_error(field, name, errno));
  return std::filesystem::path(resolved.get());
}

Result<std::filesystem::path> canonical_directory(const std::filesystem::path& path, std::string_view field) {
  std::filesystem::path resolved = TRY(canonical_existing(path, field));
  struct stat info{};
  if (::stat(resolved.c_str(), &info) != 0) return fail(lookup_error(field, resolved.native(), errno));
  if (!S_ISDIR(info.st_mode)) return fail(lookup_error(field, resolved.native(), ENOTDIR));
  // Effective ids, as the later open will be judged.
  if (::faccessat(AT_FDCWD, resolved.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
    return fail(lookup_error(field, resolved.native(), errno));
  }
  return resolved;
}

}  // namespace sallyport
