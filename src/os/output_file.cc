#include "os/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "os/canonical.h"
#include "os/file.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> refuse(std::string_view field, const fs::path& path, std::string_view why) {
  return fail(invalid_request(field, printable(path.native()) + " " + std::string(why),
                              "name a regular file, or one that is not there yet"));
}

}  // namespace

Result<OutputFile> OutputFile::settle(std::string_view field, const fs::path& path,
                                      std::span<const fs::path> strangers) {
  if (!path.has_filename() || path.filename() == "." || path.filename() == "..") {
    return refuse(field, path, "is no file's name");
  }
  const ResolvedPath parent = TRY(resolve_existing(path.has_parent_path() ? path.parent_path() : ".", field));
  for (const fs::path& link : parent.links) {
    if (std::ranges::none_of(strangers, [&](const fs::path& root) { return is_inside(link, root); })) continue;
    return refuse(field, path,
                  "is reached through " + printable(link.native()) + ", a symlink that came with the repo");
  }
  UniqueFd directory = TRY(open_exactly(parent.path, O_RDONLY | O_DIRECTORY));
  struct stat info{};
  if (::fstatat(directory.get(), path.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISLNK(info.st_mode)) return refuse(field, path, "is a symlink");
    if (!S_ISREG(info.st_mode)) return refuse(field, path, "is not a regular file");
  } else if (errno != ENOENT) {
    return fail(system_error("stat", path.native(), errno));
  }
  return OutputFile(std::move(directory), path);
}

Status OutputFile::replace(std::string_view bytes) const {
  return replace_file_at(directory_.get(), path_.filename().native(), bytes, {.bits = 0644, .masked = true});
}

}  // namespace sallyport
