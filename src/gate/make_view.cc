#include "gate/make_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/errors.h"
#include "core/view/paths.h"
#include "gate/second_names.h"
#include "os/canonical.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  // Records the path's identity now; the jail insists on that identity.
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

  Result<std::vector<HostPath>> stat_all(const std::vector<fs::path>& paths) {
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

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error)) && !error;
}

bool is_plain_directory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error)) && !error;
}

// What an installation never holds.
struct Surroundings {
  std::string repo;
  std::string home;
};

// True when PREFIX of PREFIX/bin/NAME holds one installation and nothing else: a venv, a JDK, a Go tree, or one version
// below a version manager. False for ~/.local, or a home with a bin directory.
bool is_installation(const fs::path& prefix, const Surroundings& around) {
  if (is_inside(around.repo, prefix) || is_inside(around.home, prefix)) return false;
  for (const char* mark : {"pyvenv.cfg", "VERSION", "release"}) {
    if (is_plain_file(prefix / mark)) return true;
  }
  const fs::path above = prefix.parent_path();
  return above.filename() == "versions" || above.filename() == "toolchains" ||
         above.parent_path().filename() == "versions" || above.parent_path().filename() == "installs";
}

// The outermost directory of packages that holds the file; empty when the file belongs to no npm package.
fs::path packages_around(const fs::path& path) {
  fs::path found;
  for (fs::path place = path.parent_path(); place.has_relative_path(); place = place.parent_path()) {
    if (place.filename() == "node_modules") found = place;
  }
  return found;
}

// For a tool outside the system directories, adds the tool and the installation around it.
Status add_tool_file(const fs::path& path, const Surroundings& around, const HostLayout& host, Collector& collector,
                     std::vector<HostPath>& files) {
  if (in_system(path, host)) return {};
  const auto add = [&](const fs::path& one) -> Status {
    if (std::ranges::none_of(files, [&](const HostPath& file) { return is_inside(one.native(), file.path); })) {
      files.push_back(TRY(collector.look(one)));
    }
    return {};
  };
  const fs::path directory = path.parent_path();
  const fs::path prefix = directory.parent_path();
  if (const fs::path packages = packages_around(path); !packages.empty()) return add(packages);
  if (directory.filename() != "bin") return add(path);
  if (is_installation(prefix, around)) return add(prefix);
  if (!is_plain_directory(prefix / "lib")) return add(path);
  TRY(add(directory));
  return add(prefix / "lib");
}

// The user starts Python by its name in a venv, and Python looks for the venv beside that name.
Status add_installation_of(const fs::path& name, const Surroundings& around, const HostLayout& host,
                           Collector& collector, std::vector<HostPath>& files) {
  std::error_code error;
  const fs::path directory = fs::canonical(name.parent_path(), error);
  if (error || in_system(directory, host) || directory.filename() != "bin") return {};
  if (!is_installation(directory.parent_path(), around)) return {};
  return add_tool_file(directory / name.filename(), around, host, collector, files);
}

// The symlinks on the way to what the jail will show by its real place, so that the name as written leads there, too.
void add_links_to(const fs::path& name, std::vector<HostLayout::Link>& links) {
  const Result<ResolvedPath> resolved = resolve_existing(name);
  if (!resolved) return;  // refused elsewhere, with its own message
  for (const fs::path& link : resolved->links) {
    std::error_code error;
    const fs::path text = fs::read_symlink(link, error);
    if (!error) links.push_back({.path = link.native(), .text = text.native()});
  }
}

Status check_home(const Plan& plan, const std::string& home) {
  if (home.empty() || !is_inside(home, plan.repo)) return {};
  return fail(invalid_request("repo", fmt::format("{} contains the home directory {}", plan.repo.string(), home),
                              "choose the project's own directory, so that the rest of the home stays hidden"));
}

// The name under which the home would be shown: it can be reached through a symlink.
std::string canonical_home(const std::string& home) {
  if (home.empty()) return home;
  const Result<fs::path> resolved = canonical_existing(home, "HOME");
  return resolved ? resolved->native() : home;
}

}  // namespace

Result<HostView> make_view(const Prepared& prepared, const HostRoot& host, const std::string& home, Purpose purpose) {
  const Plan& plan = prepared.plan;
  const std::string real_home = canonical_home(home);
  TRY(check_home(plan, real_home));
  TRY(check_second_names(plan, real_home));
  Collector collector;
  TRY(collector.look(plan.repo));
  ViewInputs inputs{.repo = plan.repo,
                    .repo_access = plan.repo_access,
                    .layers = plan.layers,
                    .read_only = TRY(collector.stat_all(plan.extra_read_only)),
                    .read_write = TRY(collector.stat_all(plan.extra_read_write)),
                    .hidden = TRY(collector.stat_all(plan.hidden)),
                    .no_exec = TRY(collector.stat_all(plan.no_exec)),
                    .pinned = {},
                    .tool_files = {},
                    .disk = plan.limits.disk.value_or(kDefaultDiskQuota),
                    .ca_bundle = prepared.ca_bundle};
  for (const PrivateLayer& layer : plan.layers) {
    TRY(collector.look(layer.over));
    const Result<HostPath> state = collector.look(layer.state);
    if (!state && purpose == Purpose::kRun) return fail(state.error());
  }
  const std::vector<HostPath> shut = TRY(collector.stat_all(prepared.git.shut()));
  inputs.read_only.insert(inputs.read_only.end(), shut.begin(), shut.end());
  inputs.pinned = TRY(collector.stat_all(prepared.git.pinned()));
  const Surroundings around{.repo = plan.repo, .home = real_home};
  if (const auto* binary = std::get_if<BinaryIdentity>(&prepared.tool->identity)) {
    TRY(add_tool_file(binary->path, around, host.layout, collector, inputs.tool_files));
  }
  for (const BinaryIdentity& interpreter : prepared.tool->interpreters) {
    TRY(add_tool_file(interpreter.path, around, host.layout, collector, inputs.tool_files));
  }
  for (const fs::path& name : prepared.tool_names) {
    TRY(add_installation_of(name, around, host.layout, collector, inputs.tool_files));
  }
  for (const std::vector<fs::path>* names : {&prepared.path_names, &prepared.tool_names}) {
    for (const fs::path& name : *names) add_links_to(name, inputs.links);
  }
  HostView result;
  result.entries = TRY(file_system_view(inputs, host));
  result.identities = std::move(collector).take();
  result.lost = guarantees_lost(result.entries, real_home);
  return result;
}

}  // namespace sallyport
