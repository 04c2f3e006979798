// The kernel that a microVM boots: one of the distribution's, found in /boot, with its modules.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sallyport/jail_kind.h"
#include "sallyport/result.h"

namespace sallyport::microvm {

struct KernelPlaces {
  std::filesystem::path boot = "/boot";
  std::filesystem::path modules = "/lib/modules";
};

struct GuestKernel {
  std::filesystem::path image{};
  std::filesystem::path modules{};
  std::string release{};
};

// Finds the newest kernel that we can read, that only root can change, and that has the drivers a microVM needs. If
// there is none: JailUnavailable, with what to install. `jail` is the one that asks.
[[nodiscard]] Result<GuestKernel> find_kernel(const KernelPlaces& places, JailKind jail);

// Holds the drivers, and `init` as process 1.
[[nodiscard]] Result<std::string> make_initramfs(const GuestKernel& kernel, std::string_view init, JailKind jail);

// An error when the host's processor cannot run a guest for us: it tries a guest that halts at once.
[[nodiscard]] Status try_kvm();

// The time stamp counter's frequency according to the host's kernel; 0 when unknown.
[[nodiscard]] std::uint32_t host_clock_khz();

}  // namespace sallyport::microvm
