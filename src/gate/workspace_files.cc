#include <fmt/format.h>

#include <cerrno>

#include "core/errors.h"
#include "core/text/printable.h"
#include "core/view/paths.h"
#include "gate/layers.h"
#include "gate/tool_files.h"
#include "sallyport/workspace.h"

namespace sallyport {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWorkspaceEntries = 65536;

Error refused_there(const FileRule& rule, std::string_view why) {
  return invalid_request("argv", fmt::format("{} '{}': {}", rule.what, rule.path, why), rule.hint);
}

Result<FileType> look(const Workspace& workspace, const FileRule& rule, const fs::path& relative) {
  const Result<FileType> type = workspace.type_of(relative);
  if (type) return type;
  const auto* const why = type.error().as<SystemError>();
  if (why != nullptr && why->error_number == ELOOP)
    return fail(refused_there(rule, "a symlink stands on the way to it"));
  return fail(refused_there(rule, type.error().message));
}

// The paths that the rule means: its own path, or all that match its last component.
Result<std::vector<fs::path>> meant(const Workspace& workspace, const FileRule& rule, const fs::path& relative) {
  const std::string leaf = relative.filename();
  if (leaf.find('*') == std::string::npos) return std::vector{relative};
  std::vector<fs::path> paths;
  if (TRY(look(workspace, rule, relative.parent_path())) != FileType::kDirectory) return paths;
  const std::vector<std::string> names = TRY(workspace.list_directory(relative.parent_path()));
  if (names.size() >= kMostWorkspaceEntries)
    return fail(refused_there(rule, "the directory holds too many files to check"));
  for (const std::string& name : names) {
    if (matches_leaf(name, leaf)) paths.push_back(relative.parent_path() / name);
  }
  return paths;
}

}  // namespace

Result<bool> checked_in_workspace(const Workspace& workspace, const Plan& plan, const FileRule& rule,
                                  const fs::path& path) {
  fs::path normal = path.lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  if (rule.kind == FileRule::Kind::kOutsideRepo || !is_inside(normal, plan.repo)) return false;
  const fs::path relative = normal == plan.repo ? fs::path() : normal.lexically_relative(plan.repo);
  for (const fs::path& one : TRY(meant(workspace, rule, relative))) {
    const FileType type = TRY(look(workspace, rule, one));
    const auto named = [&](std::string_view why) {
      return fail(refused_there(rule, fmt::format("'{}' is {}", printable(one.native()), why)));
    };
    switch (rule.kind) {
      case FileRule::Kind::kOutput:
      case FileRule::Kind::kRewritten:
        if (type == FileType::kSymlink) return named("a symlink, and would be written through");
        if (type != FileType::kNone && type != FileType::kFile && type != FileType::kDirectory) {
          return named("no plain file");
        }
        break;
      case FileRule::Kind::kAbsent:
        if (type != FileType::kNone)
          return fail(refused_there(rule, "the workspace has it, and the tool would obey it"));
        break;
      case FileRule::Kind::kInsideRepo:
      case FileRule::Kind::kWorkingDirectory:
        if (type == FileType::kSymlink) return named("a symlink");
        if (rule.kind == FileRule::Kind::kWorkingDirectory && normal != plan.cwd) {
          return fail(
              refused_there(rule, fmt::format("is not the working directory {}", printable(plan.cwd.native()))));
        }
        break;
      case FileRule::Kind::kOutsideRepo:
        break;
    }
  }
  return true;
}

}  // namespace sallyport
