// What a call will do, decided before anything happens: `sallyport explain` shows exactly this value, and a jail
// renders exactly this value.
//
// Nothing here fails: what cannot be planned is an error of the call, of those in sallyport/jail.h. The rules a plan is made by:
// docs/contract.md, C6-C9 and C24-C28.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/allowlist.h"
#include "sallyport/egress.h"
#include "sallyport/guarantee.h"
#include "sallyport/jail_kind.h"
#include "sallyport/limits.h"
#include "sallyport/probe_id.h"

namespace sallyport {

struct EnvVar {
  std::string name{};
  std::string value{};
  bool operator==(const EnvVar&) const = default;
};

// Ids of a user and a group of the host.
struct UserIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool operator==(const UserIds&) const = default;
};

enum class RepoAccess { kReadOnly, kWritable };

// Whether a run that may write a repo may also write what git would execute from it later: hooks, configuration, pointers to
// other git directories (ADR 0021).
enum class GitAccess { kProtected, kWritable };
// Whether the processor may speculate past stores and indirect branches for a jailed tool, where a prctl(2) decides
// that. kAllowed is faster for just-in-time compilers, but lets code slowly read another program's memory (Spectre).
enum class Speculation { kForbidden, kAllowed };

// A file that a tool's arguments make it write or obey. The gate checks each before the start, where the file system is
// known: a repo may contain a symlink where a report will be written, or a configuration where a tool looks for one.
struct FileRule {
  enum class Kind {
    kOutput,            // will be written: beneath a place the run may write, no symlink on the way, a plain file
    kRewritten,         // may be written if it exists; like kOutput, but anywhere
    kOutsideRepo,       // the tool obeys it, so it must not be in the repo
    kAbsent,            // the tool would obey it, and nothing can turn that off, so it must not exist
    kInsideRepo,        // a directory where the tool acts: inside the repo, after following every symlink
    kWorkingDirectory,  // must be the working directory itself, by whatever name
  };
  Kind kind{};
  std::string path{};  // relative to cwd; the last component of kOutput and kAbsent may hold "*" for anything
  std::string what{};  // for the message: "the report (--report-path)"
  std::string hint{};
  bool operator==(const FileRule&) const = default;
};

// A directory of which the run sees, and writes, a private version: part of a workspace (sallyport/workspace.h).
struct PrivateLayer {
  std::filesystem::path over{};   // the host's directory, canonical, and where it is shown; never written
  std::filesystem::path state{};  // of an overlay: holds upper/, `work` and an empty lower/; else the copy itself
  std::string work{};             // of an overlay; empty: a copy
  bool reflinked = false;         // for a copy: its files share their blocks with the host's until they are written
  [[nodiscard]] bool is_overlay() const { return !work.empty(); }
};

struct Plan {
  ToolEntry tool{};
  std::vector<std::string> argv{};                 // including the tool's hardening
  std::vector<EnvVar> env{};                       // exactly what the child gets, sorted by name
  std::filesystem::path repo{};                    // canonical
  std::filesystem::path cwd{};                     // canonical, inside repo
  RepoAccess repo_access = RepoAccess::kReadOnly;  // to the host's own
  std::vector<PrivateLayer> layers{};              // the repo's first, if it has one
  GitAccess git_access = GitAccess::kProtected;
  // Root runs a jailed tool as the repo's owner, if that is another user: the tool can read what the owner can read,
  // and the owner owns what it writes. Without a jail the tool runs as root.
  std::optional<UserIds> run_as{};
  Speculation speculation = Speculation::kForbidden;
  std::vector<std::filesystem::path> extra_read_only{};   // canonical
  std::vector<std::filesystem::path> extra_read_write{};  // canonical
  std::vector<std::filesystem::path> hidden{};            // canonical, below something shown: empty to the tool
  std::vector<std::filesystem::path> no_exec{};           // likewise: no program starts from there
  std::vector<HostRule> allowed_hosts{};     // the tool's hosts from the policy, then the caller's; empty: no network
  std::optional<UpstreamProxy> via_proxy{};  // the proxy on the way to them
  std::optional<RegistryCredentials> registry_credentials{};  // the owner adds them; printed is only the registry
  bool strict_network = false;                                // the first refused connection ends the run
  std::optional<std::filesystem::path> extra_ca{};            // canonical; see JailedSubprocessSpec
  Limits limits{};
  StopLadder ladder{};
  std::optional<std::uint32_t> open_files{};  // of each process
  std::vector<Guarantee> required{};          // sorted, unique
  std::optional<ProbeId> probe{};
  // git first lists the repo's configuration, in the same jail; then a run's argv and env override its dangerous keys.
  bool lists_git_configuration = false;
  std::vector<FileRule> files{};
  bool may_trace = false;              // the jail lets the tool trace what it starts
  std::string needs_jail{};            // why the tool must not run without one; empty when it may
  bool allow_unjailed = false;         // the caller allows it: sallyport/allow_unjailed.h
  bool allow_package_scripts = false;  // likewise: sallyport/allow_package_scripts.h

  // The repo's layer; null: the run sees the host's repo.
  [[nodiscard]] const PrivateLayer* repo_layer() const {
    return layers.empty() || layers.front().over != repo ? nullptr : &layers.front();
  }
};

}  // namespace sallyport
