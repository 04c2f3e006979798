#include "jobs/validate/recognise.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace sallyport::jobs {
namespace {

struct OtherManager {
  std::string_view file;
  std::string_view name;
};
constexpr auto kOthers = std::to_array<OtherManager>(
    {{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}});
constexpr auto kLocks = std::to_array<std::string_view>({"npm-shrinkwrap.json", "package-lock.json"});

// True for any type: a link counts, too.
bool is_there(const SandboxedPath& repo, std::string_view name) {
  struct stat found{};
  return ::fstatat(repo.root_fd(), std::string(name).c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

NotNpm another(std::string_view name, std::string_view because) {
  return {
      fmt::format("this repo is {}'s ({}), and validate knows npm only; a package-lock.json would do", name, because)};
}

}  // namespace

std::variant<NpmProject, NotNpm, Unreadable> recognise(const SandboxedPath& repo) {
  if (!is_there(repo, "package.json")) return NotNpm{"there is no package.json"};
  const Result<std::string> text = repo.read_file("package.json", kLargestManifest);
  if (!text) return Unreadable{text.error().message};
  auto manifest = parse_manifest(*text);
  if (!manifest) return Unreadable{fmt::format("package.json is not understood: {}", manifest.error())};
  NpmProject project{.manifest = *std::move(manifest)};
  for (const OtherManager& other : kOthers) {
    if (is_there(repo, other.file)) project.other_locks.emplace_back(other.file);
  }
  for (const std::string_view lock : kLocks) {
    if (!is_there(repo, lock)) continue;
    Result<std::string> content = repo.read_file(std::string(lock), kLargestLockfile);
    if (!content) return Unreadable{content.error().message};
    project.lock_path = lock;
    project.lock_text = *std::move(content);
    return project;
  }
  for (const OtherManager& other : kOthers) {
    if (is_there(repo, other.file)) return another(other.name, other.file);
  }
  const std::string& manager = project.manifest.package_manager;
  for (const OtherManager& other : kOthers) {
    if (manager.starts_with(std::string(other.name) + "@"))
      return another(other.name, "packageManager in package.json");
  }
  return project;
}

}  // namespace sallyport::jobs
