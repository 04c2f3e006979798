#include "jails/landlock/device_nodes.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <string_view>

#include "core/errors.h"
#include "core/text/printable.h"

namespace sallyport::landlock {
namespace {

namespace fs = std::filesystem;

bool is_device(fs::file_type type) { return type == fs::file_type::character || type == fs::file_type::block; }

bool has_no_devices(const fs::path& root) {
  struct statvfs about{};
  return ::statvfs(root.c_str(), &about) == 0 && (about.f_flag & ST_NODEV) != 0;
}

Error refused(const fs::path& path, std::string_view why) {
  return guarantee_unavailable(Guarantee::kFsWriteConfined, fmt::format("{} {}", printable(path.native()), why),
                               "remove it, use the native or the bwrap jail, or run as a plain user");
}

}  // namespace

Status check_no_device_nodes(const fs::path& root) {
  if (has_no_devices(root)) return {};
  std::error_code error;
  const fs::file_status at_root = fs::symlink_status(root, error);
  if (!error && is_device(at_root.type())) return fail(refused(root, "is a device node"));
  if (error || !fs::is_directory(at_root)) return {};
  fs::recursive_directory_iterator at(root, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code gone;  // a file that vanished meanwhile is no device node
    if (is_device(at->symlink_status(gone).type())) return fail(refused(at->path(), "is a device node"));
  }
  if (error)
    return fail(refused(root, fmt::format("cannot be searched for device nodes: {}", errno_text(error.value()))));
  return {};
}

}  // namespace sallyport::landlock
