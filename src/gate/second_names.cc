#include "gate/second_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/view_guarantees.h"
#include "os/mountinfo.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string_view field{};
  std::string path{};
  std::optional<std::uint64_t> mount{};
  std::vector<MountPlace> places{};
};

Named named(std::string_view field, std::string path) {
  std::optional<std::uint64_t> mount = mount_of(path);
  return {.field = field, .path = std::move(path), .mount = mount};
}

// The mount of the part of the path that exists: the rest will be made there.
std::optional<std::uint64_t> mount_around(fs::path path) {
  std::optional<std::uint64_t> mount = mount_of(path);
  while (!mount && path != path.root_path()) {
    path = path.parent_path();
    mount = mount_of(path);
  }
  return mount;
}

struct CallPaths {
  std::vector<Named> writable{};
  std::vector<Named> read_only{};
  std::vector<Named> hidden{};
};

CallPaths paths_of(const Plan& plan) {
  CallPaths paths;
  (plan.repo_access == RepoAccess::kWritable ? paths.writable : paths.read_only)
      .push_back(named("repo", plan.repo.native()));
  for (const fs::path& path : plan.extra_read_write) paths.writable.push_back(named("extra_read_write", path.native()));
  for (const fs::path& path : plan.extra_read_only) paths.read_only.push_back(named("extra_read_only", path.native()));
  for (const fs::path& path : plan.hidden) paths.hidden.push_back(named("hidden", path.native()));
  return paths;
}

void find_places(std::vector<Named>& paths, const std::vector<MountRow>& rows) {
  for (Named& one : paths) one.places = places_below(rows, one.path, one.mount);
}

Error refused(const Named& path, const SecondName& found, std::string_view what) {
  return invalid_request(path.field,
                         fmt::format("{} is {} by a second name, {} (a bind mount)", printable(found.by_outer), what,
                                     printable(found.by_inner)),
                         "name it by one path only, so that what holds for it holds for all of it");
}

Status refuse_either(const Named& path, const Named& other, std::string_view what) {
  if (const auto found = second_name(path.places, other.places)) return fail(refused(path, *found, what));
  if (const auto found = second_name(other.places, path.places)) {
    return fail(refused(path, {.by_outer = found->by_inner, .by_inner = found->by_outer}, what));
  }
  return {};
}

Status check(const CallPaths& paths, const std::vector<Named>& system, const std::vector<Named>& homes) {
  for (std::size_t i = 0; i < paths.writable.size(); ++i) {
    const Named& path = paths.writable[i];
    for (std::size_t j = i + 1; j < paths.writable.size(); ++j) {
      TRY(refuse_either(path, paths.writable[j], "another writable path"));
    }
    for (const Named& other : paths.read_only) TRY(refuse_either(path, other, "a read-only path"));
    for (const Named& other : system) TRY(refuse_either(path, other, "a part of the system"));
  }
  for (const std::vector<Named>* shown : {&paths.writable, &paths.read_only}) {
    for (const Named& path : *shown) {
      for (const Named& other : paths.hidden) TRY(refuse_either(path, other, "a hidden path"));
      // A run may show what lies inside a home, by any name.
      for (const Named& home : homes) {
        if (const auto found = second_name(path.places, home.places))
          return fail(refused(path, *found, "a home directory"));
      }
    }
  }
  return {};
}

}  // namespace

Status check_second_names(const Plan& plan, const std::string& home) {
  CallPaths paths = paths_of(plan);
  // On one mount, with nothing writable or hidden, each file has one name; this check costs less than reading the mount
  // table.
  const std::optional<std::uint64_t> usual = mount_of(home.empty() ? "/" : home);
  const auto is_usual = [&](const Named& path) { return path.mount == usual; };
  if (paths.writable.empty() && paths.hidden.empty() && std::ranges::all_of(paths.read_only, is_usual)) return {};
  const std::vector<MountRow> rows = TRY(read_mountinfo());
  std::vector<Named> system;
  for (const std::string_view path : kSystemDirectories) system.push_back(named("system", std::string(path)));
  std::vector<Named> homes;
  for (const std::string_view path : kHomeDirectories) homes.push_back(named("home", std::string(path)));
  if (!home.empty()) homes.push_back(named("home", home));
  for (std::vector<Named>* some : {&paths.writable, &paths.read_only, &paths.hidden, &system, &homes}) {
    find_places(*some, rows);
  }
  return check(paths, system, homes);
}

Result<bool> have_second_names(const fs::path& one, const fs::path& other) {
  const std::optional<std::uint64_t> mount = mount_around(one);
  const std::optional<std::uint64_t> its_mount = mount_around(other);
  if (mount && mount == its_mount) return false;
  const std::vector<MountRow> rows = TRY(read_mountinfo());
  const std::vector<MountPlace> these = places_below(rows, one.native(), mount);
  const std::vector<MountPlace> those = places_below(rows, other.native(), its_mount);
  return second_name(these, those).has_value() || second_name(those, these).has_value();
}

}  // namespace sallyport
