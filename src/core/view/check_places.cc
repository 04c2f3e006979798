// Where a repo, a workspace or an extra path may lie.
#include <fmt/format.h>

#include "core/errors.h"
#include "core/view/fs_view.h"
#include "core/view/paths.h"

namespace sallyport {
namespace {

Status check_place(std::string_view field, const std::string& path, const HostLayout& host) {
  TRY(check_not_whole_host(field, path));
  for (const char* kernel : {"/proc", "/sys", "/dev"}) {
    if (is_inside(path, kernel)) {
      return fail(
          invalid_request(field, fmt::format("{} belongs to the kernel", path), "choose an ordinary directory"));
    }
  }
  std::vector<std::string> kept = host.system_directories;
  kept.insert(kept.end(), {"/etc", "/tmp", "/proc", "/dev"});
  for (const std::string& system : kept) {
    if (is_inside(system, path)) {
      const std::string why = path == system ? fmt::format("the jail has a {} of its own", path)
                                             : fmt::format("{} holds {}, of which the jail has its own", path, system);
      return fail(invalid_request(field, why, "choose a directory further down"));
    }
  }
  return {};
}

}  // namespace

Status check_places(const ViewInputs& inputs, const HostLayout& host) {
  TRY(check_place("repo", inputs.repo, host));
  for (const PrivateLayer& layer : inputs.layers) TRY(check_place("workspace", layer.over, host));
  for (const HostPath& path : inputs.read_only) TRY(check_place("extra_read_only", path.path, host));
  for (const HostPath& path : inputs.read_write) TRY(check_place("extra_read_write", path.path, host));
  return {};
}

Status check_not_whole_host(std::string_view field, const std::string& path) {
  if (path != "/") return {};
  return fail(invalid_request(field, "/ is the whole host: a jail that shows it hides nothing",
                              "name the project's own directory"));
}

}  // namespace sallyport
