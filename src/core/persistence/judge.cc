#include "core/persistence/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/persistence/known_names.h"
#include "core/persistence/table.h"
#include "core/text/printable.h"

namespace sallyport::persistence {
namespace {

using enum PersistenceSeverity;

constexpr std::uint32_t kExecutable = 0111;
constexpr std::uint32_t kSetId = 06000;

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// True when a symlink's text leads out of the tree from the symlink's place. Uses the text alone: a directory in
// between may be a symlink, which is then judged itself.
bool leaves_the_tree(std::string_view path, std::string_view text) {
  if (text.starts_with('/')) return true;
  auto depth = std::ranges::count(path, '/');
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    const std::string_view component = text.substr(0, end);
    if (component == "..") {
      if (--depth < 0) return true;
    } else if (!component.empty() && component != ".") {
      ++depth;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

class Judge {
 public:
  Judge(const ReadSide& read, GitPointers pointers) : read_(read), pointers_(pointers) {
    for (const Row& row : rows()) {
      if (row.where == Where::kName) by_name_.emplace(row.text, &row);
      if (row.where == Where::kBelow) by_first_.emplace(row.text.substr(0, row.text.find('/')), &row);
      if (row.where == Where::kEnding) endings_.push_back(&row);
      if (row.where == Where::kStart) starts_.push_back(&row);
    }
  }

  void look(const Change& change) {
    const std::string path = as_compared(change.path);
    if (change.after == FileType::kNone) return by_absence(change, path);
    if (in_packages(change, path)) return;
    by_nature(change);
    if (change.after == FileType::kDirectory) return;
    by_table(change, path);
    by_content(change, path);
  }

  [[nodiscard]] std::vector<PersistenceFinding> take() && { return std::move(found_); }

 private:
  void add(const Change& change, std::string_view rule, std::string_view reason, PersistenceSeverity severity) {
    found_.push_back(
        {.path = change.path, .rule = std::string(rule), .reason = std::string(reason), .severity = severity});
  }

  // A deleted file does not run; but it may have kept something else from running ("ignore-scripts=true"), or from
  // changing.
  void by_absence(const Change& change, const std::string& path) {
    if (change.before == FileType::kDirectory || path.contains("node_modules/")) return;
    const std::string_view name = last_component(path);
    constexpr std::string_view kGone = "it was deleted, so a package manager no longer obeys it";
    if (name == "package-lock.json" || name == "npm-shrinkwrap.json") return add(change, "lockfile", kGone, kLow);
    for (auto [at, end] = by_name_.equal_range(name); at != end; ++at) {
      const Row& row = *at->second;
      if (row.rule == "package-manager" || row.rule == "lockfile") return add(change, row.rule, kGone, row.severity);
    }
  }

  // Installed packages are thousands of files, and each may be a program: report one finding for all of them, and list
  // only special files separately.
  bool in_packages(const Change& change, const std::string& path) {
    constexpr std::string_view kPackages = "node_modules";
    std::size_t at = 0;
    while ((at = path.find(kPackages, at)) != std::string::npos) {
      const std::size_t end = at + kPackages.size();
      const bool whole = (at == 0 || path[at - 1] == '/') && (end == path.size() || path[end] == '/');
      if (whole) break;
      at = end;
    }
    // git enters a git directory in there like any other.
    if (at == std::string::npos || in_git(path) || path.ends_with("/.git")) return false;
    const std::string directory = change.path.substr(0, at + kPackages.size());
    if (directory != last_packages_) {
      last_packages_ = directory;
      found_.push_back({.path = directory,
                        .rule = "packages",
                        .reason = "node and npm run what packages bring with them",
                        .severity = kLow});
    }
    by_nature(change, false);
    return true;
  }

  void by_nature(const Change& change, bool also_programs = true) {
    if ((change.mode_after & kSetId) != 0 && change.after == FileType::kFile) {
      add(change, "set-id", "it has a set-user-id or set-group-id bit", kHigh);
    }
    if (change.after == FileType::kFifo || change.after == FileType::kSocket || change.after == FileType::kDevice) {
      add(change, "special-file", fmt::format("it is a {}", name_of(change.after)), kHigh);
    }
    if (change.after == FileType::kSymlink && leaves_the_tree(change.path, change.link_after)) {
      add(change, "symlink-out", fmt::format("it is a symlink that leads out, to {}", printable(change.link_after)),
          kHigh);
    }
    if (printable(change.path) != change.path) {
      add(change, "deceptive-name", "its name has characters that hide or reorder text", kMedium);
    }
    const bool runs = change.after == FileType::kFile && (change.mode_after & kExecutable) != 0;
    if (also_programs && runs) add(change, "executable", "it is a program", kLow);
  }

  void by_table(const Change& change, const std::string& path) {
    const std::string_view name = last_component(path);
    const std::size_t before = found_.size();
    for (auto [at, end] = by_name_.equal_range(name); at != end; ++at) {
      if (is_git_word(*at->second) && (!in_git(path) || is_reviewed(change))) continue;
      add(change, *at->second);
    }
    for (const Row* const row : endings_) {
      if (name.ends_with(row->text)) add(change, *row);
    }
    for (const Row* const row : starts_) {
      if (name.starts_with(row->text)) add(change, *row);
    }
    for (std::string_view rest = path; !rest.empty();) {
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      for (auto [at, end] = by_first_.equal_range(rest.substr(0, slash)); at != end; ++at) {
        const Row& row = *at->second;
        if (is_meant(row, rest, change.after) && !(row.rule == "git-hook" && name.ends_with(".sample"))) {
          add(change, row);
        }
      }
      rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    if (found_.size() == before && is_rc_file(name)) {
      add(change, "code-config", "a tool takes its configuration from it, and may load what it names", kMedium);
    }
  }

  // True for a path below the row's directory; for a file in the directory's place; and for a symlink in the place of a
  // directory above it, which decides what lies below.
  static bool is_meant(const Row& row, std::string_view rest, FileType type) {
    if (rest.starts_with(row.text)) return rest.size() == row.text.size() || rest[row.text.size()] == '/';
    return type == FileType::kSymlink && row.text.starts_with(rest) && row.text[rest.size()] == '/';
  }

  void add(const Change& change, const Row& row) { add(change, row.rule, row.reason, row.severity); }

  // Names that mean something inside a git directory only.
  static bool is_git_word(const Row& row) {
    return row.text == "commondir" || row.text == "gitdir" || row.text == "alternates" || row.text == "attributes" ||
           row.text == "git-rebase-todo";
  }
  // By the exact name: the review of git looks for those.
  [[nodiscard]] bool is_reviewed(const Change& change) const {
    const std::string_view name = last_component(change.path);
    return pointers_ == GitPointers::kReviewed && (name == ".git" || name == "commondir" || name == "gitdir");
  }
  static bool in_git(const std::string& path) {
    return path.starts_with(".git/") || path.find("/.git/") != std::string::npos;
  }

  void by_content(const Change& change, const std::string& path) {
    const std::string_view name = last_component(path);
    if (name == "package.json") return add_all(change, judge_package_json(before(change), after(change)));
    if (name == "package-lock.json" || name == "npm-shrinkwrap.json") {
      return add_all(change, judge_package_lock(before(change), after(change)));
    }
    if (name == "config" || name == "config.worktree") {
      if (in_git(path)) return add_all(change, judge_git_config(change.path, before(change), after(change)));
      return add_all(change, judge_possible_git_config(after(change)));
    }
    if (name.ends_with("gitconfig")) return add_all(change, judge_possible_git_config(after(change)));
    if (name == ".git") {
      if (!is_reviewed(change)) add(change, kGitPointer, "git is led to another git directory by it", kHigh);
      return;
    }
    if (in_git(path) && path.find("/hooks/") != std::string::npos && !path.starts_with(".git/hooks/") &&
        path.find("/.git/hooks/") == std::string::npos && !name.ends_with(".sample")) {
      return add(change, "git-hook", "git runs it with its next command", kHigh);  // of a submodule
    }
    // core.hooksPath may lead to any directory, and the repo may have set it before the run.
    if (is_hook_name(name, path)) return add(change, "git-hook", "git runs a file of this name as a hook", kHigh);
    // A git directory without that name, which git enters too (CVE-2022-24765 and similar).
    const bool refers = change.after == FileType::kSymlink
                            ? change.link_after.starts_with("refs/")
                            : name == "head" && is_head_of_git(after(change).value_or(""));
    if (name == "head" && !in_git(path) && refers) {
      add(change, "git-embedded", "it makes its directory one that git obeys the configuration of", kHigh);
    }
  }

  void add_all(const Change& change, const std::vector<Found>& all) {
    for (const Found& one : all) add(change, one.rule, one.reason, one.severity);
  }

  [[nodiscard]] std::optional<std::string> before(const Change& change) const {
    return change.before == FileType::kFile ? read_(change, Side::kBefore) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> after(const Change& change) const {
    return change.after == FileType::kFile ? read_(change, Side::kAfter) : std::nullopt;
  }

  const ReadSide& read_;
  const GitPointers pointers_;
  std::unordered_multimap<std::string_view, const Row*> by_name_;
  std::unordered_multimap<std::string_view, const Row*> by_first_;
  std::vector<const Row*> endings_;
  std::vector<const Row*> starts_;
  std::vector<PersistenceFinding> found_;
  std::string last_packages_;
};

}  // namespace

std::vector<PersistenceFinding> judge(std::span<const Change> changes, const ReadSide& read, GitPointers pointers) {
  Judge judge(read, pointers);
  for (const Change& change : changes) judge.look(change);
  return std::move(judge).take();
}

}  // namespace sallyport::persistence
