// The kernel that a microVM boots: one of the distribution's, found in /boot, with its modules.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

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
// install, when there is none. `jail` is the name of who asks.
[[nodiscard]] Result<GuestKernel> find_kernel(const KernelPlaces& places, std::string_view jail);

// With the drivers, and `init` as its process 1.
[[nodiscard]] Result<std::string> make_initramfs(const GuestKernel& kernel, std::string_view init,
                                                 std::string_view jail);

// An error when the host's processor cannot run a guest for us: it tries a guest that halts at once.
[[nodiscard]] Status try_kvm();

// The time stamp counter's frequency according to the host's kernel; 0 when unknown.
[[nodiscard]] std::uint32_t host_clock_khz();

}  // namespace sallyport::microvm
