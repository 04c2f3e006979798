#include "gate/protected_paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "gate/git_scan.h"
#include "os/canonical.h"
#include "os/directory.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100'000;

std::vector<fs::path> places_to_write(const fs::path& repo, RepoAccess repo_access,
                                      const std::vector<fs::path>& read_write) {
  std::vector<fs::path> places = read_write;
  if (repo_access == RepoAccess::kWritable) places.push_back(repo);
  return places;
}

bool lies_in_any(const fs::path& path, const std::vector<fs::path>& places) {
  return std::ranges::any_of(places, [&](const fs::path& place) { return is_inside(path, place); });
}

Status refuse_leading_out(std::string_view field, const fs::path& asked, const ResolvedPath& found,
                          const fs::path& repo) {
  if (is_inside(found.path, repo)) return {};
  for (const fs::path& link : found.links) {
    if (!is_inside(link, repo) || link == repo) continue;
    return fail(invalid_request(
        field,
        fmt::format("{} leads out of the repo, by its symlink {}", printable(asked.native()), printable(link.native())),
        fmt::format("name {} itself if it is meant", printable(found.path.native()))));
  }
  return {};
}

Status refuse_replaceable(const fs::path& asked, const ResolvedPath& found, const std::vector<fs::path>& writable) {
  for (const fs::path& link : found.links) {
    if (!lies_in_any(link, writable)) continue;
    return fail(invalid_request("extra_read_only",
                                fmt::format("{} is reached by the symlink {}, which the run could replace",
                                            printable(asked.native()), printable(link.native())),
                                fmt::format("name {} itself", printable(found.path.native()))));
  }
  return {};
}

bool is_on_device_of_any(dev_t device, const std::vector<fs::path>& places) {
  return std::ranges::any_of(places, [&](const fs::path& place) {
    struct stat about{};
    return ::stat(place.c_str(), &about) == 0 && about.st_dev == device;
  });
}

Status refuse_second_names(const fs::path& path, const std::vector<fs::path>& writable) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return fail(system_error("stat", path.native(), errno));
  if (S_ISDIR(info.st_mode) || info.st_nlink < 2 || !is_on_device_of_any(info.st_dev, writable)) return {};
  return fail(invalid_request("extra_read_only",
                              fmt::format("{} has {} names (hard links); the run could write it by another",
                                          printable(path.native()), static_cast<std::uint64_t>(info.st_nlink)),
                              "replace it by a copy: cp FILE COPY && mv COPY FILE"));
}

// A search below one directory, without following symlinks.
class SecondNames {
 public:
  explicit SecondNames(const fs::path& top) : top_(top) {}

  std::string find() {
    const Result<UniqueFd> root = open_exactly(top_, O_PATH | O_DIRECTORY);
    if (!root) return root.error().message;
    std::vector<std::string> pending = {""};
    while (!pending.empty()) {
      const std::string directory = std::move(pending.back());
      pending.pop_back();
      const Result<UniqueFd> fd = open_listable(root->get(), directory);
      if (!fd) continue;  // if we cannot read it, the run cannot either
      const Result<std::vector<std::string>> names = list_directory(fd->get(), directory, kMostFiles);
      if (!names) return names.error().message;
      for (const std::string& name : *names) {
        if (++seen_ > kMostFiles) return fmt::format("{} holds too many files to look for hard links", shown(""));
        const std::string path = directory.empty() ? name : directory + "/" + name;
        struct stat about{};
        if (::fstatat(fd->get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISDIR(about.st_mode)) pending.push_back(path);
        if (S_ISREG(about.st_mode) && about.st_nlink > 1)
          return fmt::format("{} has another name (a hard link)", shown(path));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::string shown(const std::string& path) const { return printable((top_ / path).native()); }

  const fs::path& top_;
  std::size_t seen_ = 0;
};

}  // namespace

Status resolve_extras(const JailedSubprocessSpec& spec, CanonicalPaths& paths) {
  for (const fs::path& asked : spec.extra_read_write) {
    const ResolvedPath found = TRY(resolve_existing(asked, "extra_read_write"));
    TRY(refuse_leading_out("extra_read_write", asked, found, paths.repo));
    paths.extra_read_write.push_back(found.path);
  }
  const std::vector<fs::path> writable = places_to_write(paths.repo, spec.repo_access, paths.extra_read_write);
  for (const fs::path& asked : spec.extra_read_only) {
    const ResolvedPath found = TRY(resolve_existing(asked, "extra_read_only"));
    TRY(refuse_replaceable(asked, found, writable));
    TRY(refuse_leading_out("extra_read_only", asked, found, paths.repo));
    TRY(refuse_second_names(found.path, writable));
    paths.extra_read_only.push_back(found.path);
  }
  for (const fs::path& asked : spec.hidden) paths.hidden.push_back(TRY(canonical_existing(asked, "hidden")));
  for (const fs::path& asked : spec.no_exec) paths.no_exec.push_back(TRY(canonical_existing(asked, "no_exec")));
  return {};
}

std::string doubtful_protection(const Plan& plan) {
  const std::vector<fs::path> writable = places_to_write(plan.repo, plan.repo_access, plan.extra_read_write);
  for (const fs::path& path : plan.extra_read_only) {
    struct stat info{};
    if (!lies_in_any(path, writable) || ::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (std::string doubt = SecondNames(path).find(); !doubt.empty()) return doubt;
  }
  return {};
}

}  // namespace sallyport
