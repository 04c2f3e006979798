// A run as a virtual machine, rendered purely: QEMU's command line, what its jail shows besides the plan's view, and
// what the machine's init does with that view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/host_view.h"
#include "sallyport/plan.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::microvm {

inline constexpr const char* kQemu = "qemu-system-x86_64";

// The host's processor runs the guest (kKvm), or QEMU translates it (kTcg), which is slow and a boundary in software
// alone.
enum class Accelerator : std::uint8_t { kKvm, kTcg };

struct Machine {
  Accelerator accelerator = Accelerator::kKvm;
  std::uint64_t memory = 0;     // bytes
  std::uint32_t clock_khz = 0;  // of the host's time stamp counter; 0: the guest measures it
  bool writes = false;          // the guest can write to something that the host shares
};

// Where QEMU's jail has its files, which the tool does not see.
inline constexpr const char* kMachineFiles = "/run/sallyport-microvm";
inline constexpr const char* kConsoleFile = "console";  // in the jail's scratch

// The machine that the plan needs: its memory is the tool's, plus that of a kernel, an init and a full scratch.
[[nodiscard]] Machine machine_for(const Plan& plan, std::span<const ViewEntry> view);

// Without argv[0].
[[nodiscard]] std::vector<std::string> qemu_arguments(const Machine& machine);

// The plan's view with a kernel and an initramfs, and a scratch only large enough for the guest's console.
struct MachineFiles {
  std::string kernel{};
  std::string initramfs{};
  Accelerator accelerator = Accelerator::kKvm;
};
[[nodiscard]] std::vector<ViewEntry> machines_view(std::vector<ViewEntry> view, const MachineFiles& files);

// The same view as the init of the machine builds it: everything of the host's comes over a share.
[[nodiscard]] std::vector<ViewEntry> guests_view(std::vector<ViewEntry> view);

// What the machine's init starts.
struct GuestInputs {
  std::vector<std::string> argv{};
  std::string exe{};
  std::vector<ViewEntry> view{};  // the plan's
  std::vector<ResourceLimit> limits{};
};
[[nodiscard]] spawn::LaunchSpec render_guest(const Plan& plan, const GuestInputs& inputs);

}  // namespace sallyport::microvm
