#include "gate/make_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/view/paths.h"
#include "os/canonical.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  // The path as it is now; its identity is what the jail will insist on.
  Result<HostPath> look(const fs::path& path) {
    const UniqueFd fd = TRY(open_exactly(path, O_PATH));
    struct statx about{};
    if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, &about) != 0) {
      return fail(system_error("stat", path.native(), errno));
    }
    identities_[path] = {.device = (std::uint64_t{about.stx_dev_major} << 32U) | about.stx_dev_minor,
                         .inode = about.stx_ino};
    return HostPath{path, S_ISDIR(about.stx_mode)};
  }

  Result<std::vector<HostPath>> look_at_all(const std::vector<fs::path>& paths) {
    std::vector<HostPath> found;
    for (const fs::path& path : paths) found.push_back(TRY(look(path)));
    return found;
  }

  [[nodiscard]] std::map<std::string, FileIdentity> take() && { return std::move(identities_); }

 private:
  std::map<std::string, FileIdentity> identities_;
};

bool in_system(const fs::path& path, const HostLayout& host) {
  return std::ranges::any_of(host.system_directories, [&](const std::string& root) { return is_inside(path, root); });
}

// A tool outside the system directories brings itself; one laid out as PREFIX/bin + PREFIX/lib (nvm, venvs) brings both.
Status add_tool_file(const fs::path& path, const HostLayout& host, Collector& collector, std::vector<HostPath>& files) {
  if (in_system(path, host)) return {};
  const fs::path directory = path.parent_path();
  const fs::path libraries = directory.parent_path() / "lib";
  std::error_code error;
  if (directory.filename() == "bin" && fs::is_directory(fs::symlink_status(libraries, error)) && !error) {
    files.push_back(TRY(collector.look(directory)));
    files.push_back(TRY(collector.look(libraries)));
  } else {
    files.push_back(TRY(collector.look(path)));
  }
  return {};
}

Status check_home(const Plan& plan, const std::string& home) {
  if (home.empty() || !is_inside(home, plan.repo)) return {};
  return fail(invalid_request("repo", fmt::format("{} contains the home directory {}", plan.repo.string(), home),
                              "choose the project's own directory, so that the rest of the home stays hidden"));
}

// By the name under which it would be shown: a home can be reached through a symlink.
std::string canonical_home(const std::string& home) {
  if (home.empty()) return home;
  const Result<fs::path> resolved = canonical_existing(home, "HOME");
  return resolved ? resolved->native() : home;
}

}  // namespace

Result<HostView> make_view(const Prepared& prepared, const HostRoot& host, const std::string& home) {
  const Plan& plan = prepared.plan;
  const std::string real_home = canonical_home(home);
  TRY(check_home(plan, real_home));
  Collector collector;
  TRY(collector.look(plan.repo));
  ViewInputs inputs{.repo = plan.repo,
                    .repo_access = plan.repo_access,
                    .read_only = TRY(collector.look_at_all(plan.extra_read_only)),
                    .read_write = TRY(collector.look_at_all(plan.extra_read_write)),
                    .pinned = {},
                    .tool_files = {},
                    .disk = plan.limits.disk.value_or(kDefaultDiskQuota),
                    .names_resolve = true};
  const std::vector<HostPath> shut = TRY(collector.look_at_all(prepared.git.shut()));
  inputs.read_only.insert(inputs.read_only.end(), shut.begin(), shut.end());
  inputs.pinned = TRY(collector.look_at_all(prepared.git.pinned()));
  if (const auto* binary = std::get_if<BinaryIdentity>(&prepared.tool->identity)) {
    TRY(add_tool_file(binary->path, host.layout, collector, inputs.tool_files));
  }
  for (const BinaryIdentity& interpreter : prepared.tool->interpreters) {
    TRY(add_tool_file(interpreter.path, host.layout, collector, inputs.tool_files));
  }
  HostView result;
  result.entries = TRY(file_system_view(inputs, host));
  result.identities = std::move(collector).take();
  result.lost = guarantees_lost(result.entries, real_home);
  return result;
}

}  // namespace sallyport
