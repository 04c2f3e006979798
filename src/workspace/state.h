// Workspaces on disk: one directory each below the state directory, with its description. A directory has a living
// owner exactly as long as a process holds its flock (os/owned_dir.h); an anonymous directory without an owner is
// removed.
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
  std::int64_t made_ns = 0;  // by the file systems' clock; a later change below is a conflict
};

// A workspace that we have locked.
struct Held {
  UniqueFd root;  // the state directory
  UniqueFd lock;  // the workspace's own
  std::string id{};
};

[[nodiscard]] bool is_workspace_name(std::string_view name);
[[nodiscard]] std::string id_of_name(const std::string& name);

[[nodiscard]] Error no_state_dir();
// Checks an existing state directory: only we and root may be able to change it and every directory above it.
[[nodiscard]] Result<UniqueFd> open_existing_state_dir(const std::filesystem::path& path);
// Makes it if missing; refuses it unless only we and root can change it and every directory above it.
[[nodiscard]] Result<UniqueFd> open_state_dir(const std::filesystem::path& path);

// A new anonymous workspace, or the one of that name, made if missing. Refuses one that is in use.
[[nodiscard]] Result<Held> hold(UniqueFd root, const std::string& name);
// An existing workspace, by its id; nullopt when it is gone.
[[nodiscard]] Result<std::optional<Held>> hold_existing(UniqueFd root, const std::string& id);

[[nodiscard]] Status write_about(int directory, const About& about);
// nullopt: there is none, because its maker was killed. An error: it is malformed.
[[nodiscard]] Result<std::optional<About>> read_about(int directory);

[[nodiscard]] Status sweep_stale(int root);
[[nodiscard]] Result<std::vector<WorkspaceInfo>> list_all(int root);

}  // namespace sallyport::workspace
