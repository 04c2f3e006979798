// What `doctor` reports about this host besides its jails and tools: the means by which limits and locks hold here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/jail_table.h"
#include "core/json/json.h"

namespace sallyport::cli {

// Plain values, found out by doing.
struct HostMeans {
  std::string memory{};     // "cgroup.v1", "cgroup.v2", "watch"; empty: refused
  std::string pids{};       // the same or "rlimit"; empty: refused
  std::string no_cgroup{};  // why none can be made; empty: one can
  bool landlock = false;
  bool nftables = false;  // every denied connection is reported by name
  bool shares_namespaces =
      false;  // no jail with namespaces of its own works here: Landlock is the lock, not a second one
};

// From what the strongest jail that works here gave.
[[nodiscard]] HostMeans find_host_means(const JailAnswer& answer);
[[nodiscard]] std::string host_means_text(const HostMeans& means);
[[nodiscard]] Json host_means_json(const HostMeans& means);

}  // namespace sallyport::cli
