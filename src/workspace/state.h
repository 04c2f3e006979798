// Workspaces on disk: one directory each below the state directory, with its description. A directory belongs to a living
// owner exactly as long as somebody holds its flock (os/owned_dir.h); an anonymous one without is removed.
//
//   STATE/named-NAME/ or STATE/sallyport-UID-PID-RANDOM/
//     about.json       what it is
//     layer/lower      empty: where the jail mounts the directory below
//     layer/upper      what runs have written (overlay)
//     layer/work/N     overlayfs's own, one for each mount
//     copy, manifest   the private copy, and what each of its files was when it was made
//     committed        the host's files that we wrote ourselves
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/result.h"
#include "sallyport/unique_fd.h"
#include "sallyport/workspace.h"

namespace sallyport::workspace {

struct About {
  std::string name{};
  std::filesystem::path repo{};
  std::uint64_t repo_device = 0;
  std::uint64_t repo_inode = 0;
  WorkspaceMechanism mechanism = WorkspaceMechanism::kAuto;  // kAuto: no run has decided yet
  bool reflinked = false;                                    // of a copy
  std::uint64_t quota = 0;
  std::int64_t made_ns = 0;  // of the clock that file systems stamp with; what changed below later is a conflict
};

// One that is locked by us.
struct Held {
  UniqueFd root;  // the state directory
  UniqueFd lock;  // the workspace's own
  std::string id{};
};

[[nodiscard]] bool is_workspace_name(std::string_view name);
[[nodiscard]] std::string id_of_name(const std::string& name);

[[nodiscard]] Error no_state_dir();
// Whether it may be used as one: it, and every directory above it, can be changed by us and root only. It exists.
[[nodiscard]] Result<UniqueFd> open_existing_state_dir(const std::filesystem::path& path);
// Made when it is missing; refused unless it, and every directory above it, can be changed by us and root only.
[[nodiscard]] Result<UniqueFd> open_state_dir(const std::filesystem::path& path);

// A new anonymous one, or the one of that name, made when it is missing. Refused when it is in use.
[[nodiscard]] Result<Held> hold(UniqueFd root, const std::string& name);
// One that exists, by its id; nullopt when it is not there.
[[nodiscard]] Result<std::optional<Held>> hold_existing(UniqueFd root, const std::string& id);

[[nodiscard]] Status write_about(int directory, const About& about);
// nullopt: there is none yet, because its maker was killed. An error: it cannot be understood.
[[nodiscard]] Result<std::optional<About>> read_about(int directory);

[[nodiscard]] Status sweep_stale(int root);
[[nodiscard]] Result<std::vector<WorkspaceInfo>> list_all(int root);

}  // namespace sallyport::workspace
