#include "gate/tool_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "core/errors.h"
#include "core/view/fs_view.h"
#include "core/view/paths.h"
#include "gate/layers.h"
#include "os/directory.h"
#include "os/openat2.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

// We refuse a directory that was filled only to make us hold its names (C35).
constexpr std::size_t kMostEntries = 65536;
constexpr std::array<std::string_view, 3> kStreams = {"/dev/null", "/dev/stdout", "/dev/stderr"};

Error refused(const FileRule& rule, std::string_view why) {
  return invalid_request("argv", fmt::format("{} '{}': {}", rule.what, rule.path, why), rule.hint);
}

// Resolves the path as the tool will: from its cwd; and inside a jail the repo has a second name.
fs::path absolute_path(const Plan& plan, const FileRule& rule, Confinement confinement) {
  fs::path path = plan.cwd / rule.path;
  if (confinement != Confinement::kNone && is_inside(path.lexically_normal(), kJailRepo)) {
    return plan.repo / path.lexically_normal().lexically_relative(kJailRepo);
  }
  return path;
}

// "/proc/self" names a different process for us than for the tool, so we cannot judge anything below it.
bool cannot_be_judged(const fs::path& path) {
  return is_inside(path, "/proc") || is_inside(path, "/dev/fd") || path == "/dev/stdin";
}

// Where a path named by the caller may be the host's own file. The repo counts even when it is read-only: a symlink in
// it can lead into a place that is writable.
std::vector<fs::path> shown_roots(const Plan& plan) {
  std::vector<fs::path> roots = plan.extra_read_write;
  roots.push_back(plan.repo);
  return roots;
}

bool is_inside_any(const fs::path& path, const std::vector<fs::path>& roots) {
  return std::ranges::any_of(roots, [&](const fs::path& root) { return is_inside(path, root); });
}

// The names in `directory` that the rule's last component means: the component itself, or all that match it.
Result<std::vector<std::string>> leaves(int directory, const FileRule& rule, const std::string& leaf) {
  if (leaf.find('*') == std::string::npos) return std::vector{leaf};
  const UniqueFd listed = TRY(open_beneath(directory, ".", O_RDONLY | O_DIRECTORY));
  std::vector<std::string> names = TRY(list_directory(listed.get(), rule.path, kMostEntries));
  if (names.size() >= kMostEntries) return fail(refused(rule, "the directory holds too many files to check"));
  std::erase_if(names, [&](const std::string& name) { return !matches_leaf(name, leaf); });
  return names;
}

Status check_leaf(int directory, const std::string& name, const FileRule& rule) {
  struct stat status{};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT || (rule.kind == FileRule::Kind::kRewritten && errno == ENAMETOOLONG)) return {};
    return fail(refused(rule, errno_text(errno)));
  }
  const auto named = [&](std::string_view why) { return fail(refused(rule, fmt::format("'{}' is {}", name, why))); };
  if (S_ISLNK(status.st_mode)) return named("a symlink, and would be written through");
  if (S_ISDIR(status.st_mode)) return {};
  if (!S_ISREG(status.st_mode)) return named("no plain file");
  if (status.st_nlink > 1) return named("a hard link: a file elsewhere would be written, too");
  return {};
}

// The directory that holds a path, if no symlink lies below those roots: opening it later refuses such symlinks. It
// follows a symlink above the roots, which is the host's own. nullopt when there is no such directory.
std::optional<fs::path> canonical_parent(const fs::path& parent, const std::vector<fs::path>& roots) {
  fs::path normal = parent.lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  if (is_inside_any(normal, roots)) return normal;
  std::error_code error;
  fs::path canonical = fs::canonical(parent, error);
  return error ? std::nullopt : std::optional(std::move(canonical));
}

// nullopt when there is no such directory, and so no file in it.
Result<std::optional<UniqueFd>> open_parent(const fs::path& parent, const FileRule& rule) {
  Result<UniqueFd> fd = open_exactly(parent, O_PATH | O_DIRECTORY);
  if (fd) return std::optional(*std::move(fd));
  const auto* const failed = fd.error().as<SystemError>();
  const int why = failed == nullptr ? EINVAL : failed->error_number;
  if (why == ELOOP) return fail(refused(rule, "a symlink stands on the way to it"));
  // An argument that looks like a path, but is none, names no file.
  if (why == ENOENT || rule.kind == FileRule::Kind::kRewritten) return std::optional<UniqueFd>();
  return fail(refused(rule, errno_text(why)));
}

Status check_written(const Plan& plan, const FileRule& rule, Confinement confinement) {
  const fs::path path = absolute_path(plan, rule, confinement);
  if (std::ranges::find(kStreams, path.native()) != kStreams.end()) return {};
  const bool must_be_inside = rule.kind == FileRule::Kind::kOutput && confinement == Confinement::kNone;
  if (must_be_inside && cannot_be_judged(path.lexically_normal())) {
    return fail(refused(rule, "a path below /proc means another file to the tool"));
  }
  const std::vector<fs::path> roots = shown_roots(plan);
  const std::string leaf = path.filename().native();
  const bool is_place = leaf.empty() || leaf == "." || leaf == "..";
  const fs::path written = is_place ? path : path.parent_path();
  const std::optional<fs::path> parent = canonical_parent(written, roots);
  if (!parent || !is_inside_any(*parent, roots)) {
    if (must_be_inside) return fail(refused(rule, "lies outside the repo"));
    return {};  // in a jail it is not the host's file; else it only looks like a path, or the caller chose it
  }
  const bool as_written = is_inside_any(written.lexically_normal(), roots);
  const std::optional<UniqueFd> directory = TRY(open_parent(as_written ? written : *parent, rule));
  if (!directory || is_place) return {};
  for (const std::string& name : TRY(leaves(directory->get(), rule, leaf))) {
    TRY(check_leaf(directory->get(), name, rule));
  }
  return {};
}

Status check_obeyed(const Plan& plan, const FileRule& rule, Confinement confinement) {
  const fs::path path = absolute_path(plan, rule, confinement);
  std::error_code missing;
  const fs::path real = fs::canonical(path, missing);
  if (cannot_be_judged(path.lexically_normal()) || cannot_be_judged(real)) {
    return fail(refused(rule, "cannot be judged before the start"));
  }
  const bool inside = is_inside(path.lexically_normal(), plan.repo) || (!missing && is_inside(real, plan.repo));
  if (inside) return fail(refused(rule, "lies in the repo, which is not trusted"));
  return {};
}

Status check_absent(const Plan& plan, const FileRule& rule, Confinement confinement) {
  const fs::path path = absolute_path(plan, rule, confinement);
  const std::string leaf = path.filename().native();
  std::error_code missing;
  if (leaf.find('*') == std::string::npos) {
    if (!fs::exists(path, missing)) return {};
    return fail(refused(rule, "the repo has it, and the tool would obey it"));
  }
  const UniqueFd directory(::open(path.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return {};  // the tool cannot open it either
  const std::vector<std::string> found = TRY(leaves(directory.get(), rule, leaf));
  if (found.empty()) return {};
  return fail(refused(rule, fmt::format("the repo has '{}', and the tool would obey it", found.front())));
}

// A missing file leads nowhere else, as long as its name stays inside.
Status check_inside(const Plan& plan, const FileRule& rule, Confinement confinement) {
  const fs::path path = absolute_path(plan, rule, confinement);
  if (cannot_be_judged(path.lexically_normal())) return fail(refused(rule, "cannot be judged before the start"));
  std::error_code missing;
  const fs::path real = fs::canonical(path, missing);
  const bool inside = missing ? is_inside(path.lexically_normal(), plan.repo) : is_inside(real, plan.repo);
  if (!inside) return fail(refused(rule, fmt::format("lies outside the repo {}", plan.repo.native())));
  if (rule.kind == FileRule::Kind::kInsideRepo || (!missing && real == plan.cwd)) return {};
  return fail(refused(rule, fmt::format("is not the working directory {}", plan.cwd.native())));
}

}  // namespace

bool matches_leaf(std::string_view name, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::optional<std::size_t> star;
  std::size_t spanned = 0;
  while (at < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      spanned = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == name[at]) {
      ++in_pattern;
      ++at;
    } else if (star) {
      in_pattern = *star + 1;
      at = ++spanned;
    } else {
      return false;
    }
  }
  return pattern.substr(in_pattern).find_first_not_of('*') == std::string_view::npos;
}

Status check_tool_files(const Plan& plan, Confinement confinement, const Workspace* workspace) {
  for (const FileRule& rule : plan.files) {
    if (workspace != nullptr) {
      const fs::path path = absolute_path(plan, rule, confinement);
      if (TRY(checked_in_workspace(*workspace, plan, rule, path))) continue;
    }
    switch (rule.kind) {
      case FileRule::Kind::kOutput:
      case FileRule::Kind::kRewritten:
        TRY(check_written(plan, rule, confinement));
        break;
      case FileRule::Kind::kOutsideRepo:
        TRY(check_obeyed(plan, rule, confinement));
        break;
      case FileRule::Kind::kAbsent:
        TRY(check_absent(plan, rule, confinement));
        break;
      case FileRule::Kind::kInsideRepo:
      case FileRule::Kind::kWorkingDirectory:
        TRY(check_inside(plan, rule, confinement));
        break;
    }
  }
  return {};
}

}  // namespace sallyport
