// The kernel that a microVM boots: one of the distribution's, found in /boot, with its modules.
#pragma once

#include <filesystem>
#include <string>

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

// The newest one that can be read, is root's alone to change, and has the drivers a microVM needs. JailUnavailable, with what to
// install, when there is none.
[[nodiscard]] Result<GuestKernel> find_kernel(const KernelPlaces& places);

// With the drivers, and `init` as its process 1.
[[nodiscard]] Result<std::string> make_initramfs(const GuestKernel& kernel, std::string_view init);

// An error when the host's processor cannot run a guest for us: tried with one that halts at once.
[[nodiscard]] Status try_kvm();

// Of the time stamp counter, as the host's kernel says; 0 when it does not.
[[nodiscard]] std::uint32_t host_clock_khz();

}  // namespace sallyport::microvm
