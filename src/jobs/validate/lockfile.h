// The parts of package-lock.json and package.json that validate needs. Both are untrusted: bounded, typed, nothing
// throws. Versions 1 to 3 of the lock file give the same value.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/limits.h"

namespace sallyport::jobs {

inline constexpr ByteCount kLargestLockfile = mebibytes(64);
inline constexpr ByteCount kLargestManifest = mebibytes(8);

// One package of the lock file, as it would be installed.
struct LockedPackage {
  std::string path{};  // "node_modules/a/node_modules/b"; a directory of the repo for a workspace
  std::string name{};
  std::string version{};
  std::string resolved{};               // where it comes from; may be empty
  std::string integrity{};              // Subresource Integrity, one or more hashes; may be empty
  std::vector<std::string> programs{};  // names it puts into node_modules/.bin
  bool has_install_script = false;
  bool in_bundle = false;  // comes inside the tarball of another
  bool is_link = false;    // a symlink into the repo
  // It is installed under this name: "node_modules/x" for a package y, which a dependency "x": "npm:y@1" asks for.
  std::string installed_as{};
  bool has_own_lock = false;  // its tarball has an npm-shrinkwrap.json, which npm obeys for what lies below it
};

// Name -> range, of one kind of dependency.
using Wants = std::map<std::string, std::string>;

// Kinds as npm compares them: optional dependencies are among the dependencies.
struct WantedPackages {
  Wants dependencies{};
  Wants dev{};
  Wants peer{};
  bool operator==(const WantedPackages&) const = default;
};

struct Lockfile {
  std::uint32_t version = 0;
  std::vector<LockedPackage> packages{};  // without the project itself; sorted by path
  // What the lock file was made for; version 1 does not say.
  WantedPackages wanted{};
  // Packages that the lock file requests under another name: name, package.
  std::set<std::pair<std::string, std::string>> aliases{};
};

// The value, or why it is none.
[[nodiscard]] std::expected<Lockfile, std::string> parse_lockfile(std::string_view text);

struct Manifest {
  std::string name{};
  std::string package_manager{};  // "pnpm@9.1.0"; empty when it says nothing
  WantedPackages wanted{};
  std::vector<std::string> scripts{};  // their names, sorted
  std::vector<std::string> workspaces{};
  // As Lockfile::aliases, of its dependencies and overrides.
  std::set<std::pair<std::string, std::string>> aliases{};
};

[[nodiscard]] std::expected<Manifest, std::string> parse_manifest(std::string_view text);

// Whether the package is fetched from somewhere: not a directory of the repo, a link, or part of another's tarball.
[[nodiscard]] bool is_fetched(const LockedPackage& package);

}  // namespace sallyport::jobs
