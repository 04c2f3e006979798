// What a call will do, decided and printable before anything is done: `sallyport explain` shows exactly this value,
// and an adapter renders exactly this value.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/allowlist.h"
#include "sallyport/egress.h"
#include "sallyport/guarantee.h"
#include "sallyport/limits.h"
#include "sallyport/probe_id.h"

namespace sallyport {

struct EnvVar {
  std::string name{};
  std::string value{};
  bool operator==(const EnvVar&) const = default;
};

enum class RepoAccess { kReadOnly, kWritable };

// Which jail stands behind the gate. kAuto takes the first that works: native, then bwrap; it never falls to kNone.
enum class JailKind { kAuto, kNone, kNative, kBwrap };

struct Plan {
  ToolEntry tool{};
  std::vector<std::string> argv{};  // with the tool's hardening already in it
  std::vector<EnvVar> env{};        // exactly what the child gets, sorted by name
  std::filesystem::path repo{};     // canonical
  std::filesystem::path cwd{};      // canonical, inside repo
  RepoAccess repo_access = RepoAccess::kReadOnly;
  std::vector<std::filesystem::path> extra_read_only{};   // canonical
  std::vector<std::filesystem::path> extra_read_write{};  // canonical
  std::vector<HostRule> allowed_hosts{};  // the tool's from the policy, then the caller's; empty: no network
  bool strict_network = false;            // the first refused connection ends the run
  Limits limits{};
  StopLadder ladder{};
  std::vector<Guarantee> required{};  // sorted, unique
  std::optional<ProbeId> probe{};
};

}  // namespace sallyport
