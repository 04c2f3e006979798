#include "core/policy/jail_launchers.h"

#include <algorithm>
#include <vector>

namespace sallyport {
namespace {

std::vector<ToolEntry> make_table() {
  return {{.name = "runc",
           .decision_record = "ADR-0085",
           .reason = "builds the container of the oci jail on Linux",
           .role = Role::kWrapper,
           .install_hint = "apt-get install runc",
           .platform = Platform::kLinux},
          {.name = "runsc",
           .decision_record = "ADR-0087",
           .reason = "starts gVisor, the kernel of the gvisor jail, on Linux",
           .role = Role::kWrapper,
           .install_hint = "apt-get install runsc",
           .platform = Platform::kLinux},
          {.name = "qemu-system-x86_64",
           .decision_record = "ADR-0105",
           .reason = "is the machine of the microvm jails, inside the native jail on Linux",
           .role = Role::kWrapper,
           .install_hint = "apt-get install qemu-system-x86",
           .platform = Platform::kLinux},
          {.name = "podman",
           .decision_record = "ADR-0100",
           .reason = "starts the containers of the container jail",
           .role = Role::kWrapper,
           .install_hint = "apt-get install podman"}};
}

}  // namespace

std::span<const ToolEntry> jail_launchers() {
  static const std::vector<ToolEntry> table = make_table();
  return table;
}

const ToolEntry* find_jail_launcher(std::string_view name) {
  const std::span<const ToolEntry> table = jail_launchers();
  const auto found = std::ranges::find(table, name, &ToolEntry::name);
  return found == table.end() ? nullptr : &*found;
}

bool launches_jails_too(std::string_view name) { return name == "docker"; }

}  // namespace sallyport
