#include "gate/linked_git.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/view/git_parts.h"
#include "core/view/paths.h"
#include "gate/git_files.h"
#include "os/canonical.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAlternates = "objects/info/alternates";
// git itself follows five levels; each alternate is one line, and one directory to name.
constexpr std::size_t kMostAlternates = 16;

// A directory, opened by its canonical path, so that no symlink can take its place.
struct GitDirectory {
  fs::path path;
  UniqueFd fd;
  uid_t owner = 0;
};

std::optional<GitDirectory> open_directory(const fs::path& path) {
  const Result<fs::path> canonical = canonical_existing(path, "git directory");
  if (!canonical) return std::nullopt;
  Result<UniqueFd> fd = open_exactly(*canonical, O_RDONLY | O_DIRECTORY);
  struct stat info{};
  if (!fd || ::fstat(fd->get(), &info) != 0) return std::nullopt;
  return GitDirectory{.path = *canonical, .fd = *std::move(fd), .owner = info.st_uid};
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::optional<std::string> line_in(const GitDirectory& directory, const std::string& name) {
  const Result<std::string> text = read_git_file(directory.fd.get(), name);
  return text ? std::optional(first_line(*text)) : std::nullopt;
}

bool has_directory(const GitDirectory& directory, const char* name) {
  return UniqueFd(openat2_beneath(directory.fd.get(), name, O_PATH | O_DIRECTORY)).get() >= 0;
}

// Checks what git's own is_git_directory() checks, without following symlinks.
bool is_git_directory(const GitDirectory& directory) {
  return has_directory(directory, "objects") && has_directory(directory, "refs") &&
         read_git_file(directory.fd.get(), "HEAD").has_value();
}

// True when the text, in any spelling, names the wanted file. A name that cannot be resolved names no file.
bool leads_to(const fs::path& from, const std::string& text, const fs::path& wanted) {
  if (text.empty()) return false;
  const Result<fs::path> canonical = canonical_existing(from / text, "git directory");
  return canonical && *canonical == wanted;
}

// COMMON of a worktree's own directory COMMON/worktrees/X that points back to this repo; nullopt: it is no such
// directory, or does not point back.
std::optional<GitDirectory> common_of_worktree(const GitDirectory& own, const fs::path& repo) {
  const std::optional<std::string> common = line_in(own, "commondir");
  const std::optional<std::string> back = line_in(own, "gitdir");
  if (!common || !back || own.path.parent_path().filename() != "worktrees") return std::nullopt;
  const fs::path above = own.path.parent_path().parent_path();
  if (!leads_to(own.path, *common, above) || !leads_to(own.path, *back, repo / ".git")) return std::nullopt;
  return open_directory(above);
}

bool knows_as_worktree(const GitDirectory& git, const fs::path& repo) {
  for (const char* const name : {"config", "config.worktree"}) {
    const Result<std::string> text = read_git_file(git.fd.get(), name);
    const std::optional<std::vector<GitSetting>> settings = text ? parse_git_config(*text) : std::nullopt;
    if (!settings) continue;
    for (const GitSetting& setting : *settings) {
      if (setting.key == "core.worktree" && leads_to(git.path, setting.value, repo)) return true;
    }
  }
  return false;
}

class Finder {
 public:
  Finder(fs::path repo, uid_t owner) : repo_(std::move(repo)), owner_(owner) {}

  void follow(const GitDirectory& root) {
    struct stat info{};
    if (::fstatat(root.fd.get(), ".git", &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(info.st_mode)) {
      if (const std::optional<GitDirectory> git = open_directory(repo_ / ".git")) note_alternates(*git);
      return;
    }
    if (!S_ISREG(info.st_mode)) return;
    const Result<std::string> text = read_git_file(root.fd.get(), ".git");
    const std::optional<std::string> target = text ? gitdir_target(*text) : std::nullopt;
    if (target) follow_pointer(repo_ / *target, info.st_uid);
  }

  [[nodiscard]] LinkedGit take() && { return std::move(found_); }

 private:
  void follow_pointer(const fs::path& target, uid_t pointer_owner) {
    const std::optional<GitDirectory> own = open_directory(target);
    if (!own) return hide(target, "it is not there, or not yours to read");
    std::optional<GitDirectory> common = common_of_worktree(*own, repo_);
    const bool is_submodule = !common && knows_as_worktree(*own, repo_);
    const GitDirectory& shown = common ? *common : *own;
    if (is_inside(shown.path, repo_)) {  // part of the repo, so shown already
      found_.place = GitPlace{.own = own->path, .common = shown.path};
      return note_alternates(shown);
    }
    if (!common && !is_submodule) return hide(own->path, "it does not point back to this repo");
    if (own->owner != owner_ || shown.owner != owner_ || pointer_owner != owner_) {
      return hide(shown.path, "it belongs to another user than the repo");
    }
    if (!is_git_directory(shown)) return hide(shown.path, "it is not a git directory");
    if (is_inside(repo_, shown.path)) return hide(shown.path, "the repo lies inside it");
    found_.shown.push_back(shown.path);
    found_.place = GitPlace{.own = own->path, .common = shown.path};
    note_alternates(shown);
  }

  void note_alternates(const GitDirectory& git) {
    const Result<std::string> text = read_git_file(git.fd.get(), std::string(kAlternates));
    if (!text) return;
    std::string_view rest = *text;
    for (std::size_t i = 0; i < kMostAlternates && !rest.empty(); ++i) {
      const std::string line = first_line(rest);
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.empty() || line.starts_with('#')) continue;
      const std::optional<GitDirectory> objects = open_directory(git.path / "objects" / line);
      if (objects && is_inside(objects->path, repo_)) continue;
      hide(objects ? objects->path : fs::path(line), "the repo borrows objects from it, and nothing there points back");
    }
  }

  void hide(const fs::path& path, std::string why) { found_.hidden.push_back({.path = path, .why = std::move(why)}); }

  fs::path repo_;
  uid_t owner_;
  LinkedGit found_{};
};

}  // namespace

LinkedGit find_linked_git(const fs::path& repo) {
  const std::optional<GitDirectory> root = open_directory(repo);
  if (!root) return {};
  Finder finder(repo, root->owner);
  finder.follow(*root);
  return std::move(finder).take();
}

}  // namespace sallyport
