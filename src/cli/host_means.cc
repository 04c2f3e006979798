#include "cli/host_means.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/text/printable.h"
#include "os/cgroup.h"

namespace sallyport::cli {
namespace {

std::optional<Mechanism> mechanism_of(const std::vector<Established>& established, Guarantee guarantee) {
  const auto found = std::ranges::find(established, guarantee, &Established::guarantee);
  return found == established.end() ? std::nullopt : std::optional(found->mechanism);
}

}  // namespace

HostMeans find_host_means(const JailAnswer& answer) {
  const CgroupSupport cgroups = probe_cgroups();
  HostMeans means;
  if (const auto memory = mechanism_of(answer.when_asked, Guarantee::kLimitMemory)) means.memory = name_of(*memory);
  if (const auto pids = mechanism_of(answer.when_asked, Guarantee::kLimitPids)) means.pids = name_of(*pids);
  if (!cgroups.memory.available) means.no_cgroup = cgroups.memory.reason;
  const auto lock = mechanism_of(answer.established, Guarantee::kFsReadonlySystem);
  means.shares_namespaces = lock == Mechanism::kLandlockAndSeccomp;
  means.landlock = means.shares_namespaces || lock == Mechanism::kMountsAndLandlock;
  means.nftables =
      mechanism_of(answer.when_asked, Guarantee::kNetEgressAllowlist) == Mechanism::kNetworkNamespaceAndNftables;
  return means;
}

std::string host_means_text(const HostMeans& means) {
  std::string text =
      fmt::format("limits   memory by {}, processes by {}\n",
                  means.memory.empty() ? std::string_view("nothing (--memory is refused)") : means.memory,
                  means.pids.empty() ? std::string_view("nothing (--pids is refused)") : means.pids);
  if (!means.no_cgroup.empty()) {
    text += fmt::format("         no cgroup: {}\n", printable(means.no_cgroup));
    text += "         hint: run as root, or under systemd-run --user --scope -p Delegate=yes\n";
  }
  if (means.shares_namespaces) return text + "landlock and seccomp are the locks: this jail makes no namespaces\n";
  text += means.landlock ? "landlock is the second lock behind the mounts\n"
                         : "landlock is not in this kernel, or too old (5.19): mounts are the only lock\n";
  text += means.nftables ? "nftables names every connection that is refused\n"
                         : "nftables is not there: connections to other ports are refused without a name\n";
  return text;
}

Json host_means_json(const HostMeans& means) {
  return {{"memory", means.memory.empty() ? Json(nullptr) : Json(means.memory)},
          {"pids", means.pids.empty() ? Json(nullptr) : Json(means.pids)},
          {"no_cgroup", means.no_cgroup.empty() ? Json(nullptr) : json_text(means.no_cgroup)},
          {"landlock", means.landlock},
          {"nftables", means.nftables}};
}

}  // namespace sallyport::cli
