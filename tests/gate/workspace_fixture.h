// A repo, a workspace over it, and a tool that changes what it sees.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "gate/gate_fixture.h"
#include "sallyport/workspace.h"

namespace sallyport::test {

// Every path below, with its content, a symlink's text, or its type: what "byte-identical" means.
inline std::map<std::string, std::string> everything_in(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    std::string what = std::to_string(static_cast<unsigned>(fs::symlink_status(entry).permissions())) + " ";
    if (entry.is_symlink()) {
      what += "-> " + fs::read_symlink(entry).native();
    } else if (entry.is_regular_file()) {
      what += read_file(entry.path());
    } else {
      what += entry.is_directory() ? "directory" : "other";
    }
    found[entry.path().lexically_relative(root)] = what;
  }
  return found;
}

class WorkspaceTest : public EveryJailTest {
 protected:
  WorkspaceTest() {
    namespace fs = std::filesystem;
    write_file(repo_ / "kept", "kept\n");
    write_file(repo_ / "edited", "before\n");
    write_file(repo_ / "gone", "gone\n");
    fs::create_directories(repo_ / "dir/inner");
    write_file(repo_ / "dir/one", "one\n");
    write_file(repo_ / "dir/inner/two", "two\n");
    before_ = everything_in(repo_);
  }

  [[nodiscard]] std::unique_ptr<Workspace> open(const std::string& name = {},
                                                std::optional<ByteCount> quota = std::nullopt) {
    Result<std::unique_ptr<Workspace>> made =
        Workspace::open({.repo = repo_, .state_dir = dir_ / "state", .name = name, .quota = quota});
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return made ? *std::move(made) : nullptr;
  }

  [[nodiscard]] JailedSubprocessResult change(Workspace& workspace, std::vector<std::string> deeds) {
    deeds.insert(deeds.begin(), "change_tree");
    JailedSubprocessSpec what = spec(std::move(deeds));
    what.workspace = &workspace;
    return run(*gate_, what, GetParam());
  }

  [[nodiscard]] static std::map<std::string, ChangeKind> kinds(const WorkspaceDiff& diff) {
    std::map<std::string, ChangeKind> found;
    for (const Change& one : diff.changes) found[one.path] = one.kind;
    return found;
  }
  [[nodiscard]] static bool flagged(const WorkspaceDiff& diff, std::string_view path, std::string_view rule) {
    return std::ranges::any_of(
        diff.findings, [&](const PersistenceFinding& finding) { return finding.path == path && finding.rule == rule; });
  }

  const std::unique_ptr<Gate> gate_ = open_gate();
  std::map<std::string, std::string> before_;
};

}  // namespace sallyport::test
