#include "jails/microvm/kernel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "core/errors.h"
#include "jails/microvm/initramfs.h"
#include "jails/microvm/modules.h"
#include "os/file.h"

namespace sallyport::microvm {
namespace {

namespace fs = std::filesystem;

constexpr auto kDrivers =
    std::to_array<std::string_view>({"virtio_mmio", "virtio_console", "virtio_net", "9pnet_virtio", "9p"});
constexpr ByteCount kLargestModule = mebibytes(16);
constexpr ByteCount kLargestList = mebibytes(16);
constexpr const char* kHint = "apt-get install linux-image-amd64 (its modules include 9p; the cloud kernel's do not)";

bool is_roots_alone(const fs::path& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == 0 &&
         (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Compares versions as people do: numbers by their value.
bool newer(const std::string& left, const std::string& right) { return ::strverscmp(left.c_str(), right.c_str()) > 0; }

Modules drivers_of(const GuestKernel& kernel) {
  const Result<std::string> dependencies = read_whole_file(kernel.modules / "modules.dep", kLargestList);
  if (!dependencies) return std::unexpected(dependencies.error().message);
  const Result<std::string> built_in = read_whole_file(kernel.modules / "modules.builtin", kLargestList);
  if (!built_in) return std::unexpected(built_in.error().message);
  return modules_to_load(kDrivers, {.dependencies = *dependencies, .built_in = *built_in});
}

}  // namespace

Result<GuestKernel> find_kernel(const KernelPlaces& places, JailKind jail) {
  constexpr std::string_view kPrefix = "vmlinuz-";
  std::vector<std::string> releases;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(places.boot, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kPrefix)) releases.push_back(name.substr(kPrefix.size()));
  }
  std::ranges::sort(releases, newer);
  std::string why = "there is no kernel for it to boot";
  for (const std::string& release : releases) {
    GuestKernel kernel{.image = places.boot / fmt::format("{}{}", kPrefix, release),
                       .modules = places.modules / release,
                       .release = release};
    if (!is_roots_alone(kernel.image) || ::access(kernel.image.c_str(), R_OK) != 0) {
      why = fmt::format("{} cannot be read, or is not root's alone to change", kernel.image.string());
      continue;
    }
    const Modules drivers = drivers_of(kernel);
    if (drivers) return kernel;
    why = drivers.error();
  }
  return fail(jail_unavailable(jail, why, kHint));
}

Result<std::string> make_initramfs(const GuestKernel& kernel, std::string_view init, JailKind jail) {
  const Modules drivers = drivers_of(kernel);
  if (!drivers) return fail(jail_unavailable(jail, drivers.error(), kHint));
  std::vector<InitramfsFile> files = {{.path = "m", .mode = S_IFDIR | 0755},
                                      {.path = "dev", .mode = S_IFDIR | 0755},
                                      {.path = "init", .mode = S_IFREG | 0755, .content = std::string(init)}};
  std::size_t number = 0;
  for (const std::string& path : *drivers) {
    if (!path.ends_with(".ko")) {
      return fail(jail_unavailable(jail, fmt::format("{} is compressed, which its init cannot load", path), kHint));
    }
    files.push_back({.path = fmt::format("m/{}", number++),
                     .mode = S_IFREG | 0644,
                     .content = TRY(read_whole_file(kernel.modules / path, kLargestModule))});
  }
  return pack_initramfs(files);
}

std::uint32_t host_clock_khz() {
  const Result<std::string> about = read_whole_file("/proc/cpuinfo", kLargestList);
  if (!about) return 0;
  const std::size_t at = about->find("cpu MHz");
  const std::size_t value = at == std::string::npos ? at : about->find(": ", at);
  if (value == std::string::npos) return 0;
  double mhz = 0;
  const char* const first = about->data() + value + 2;
  const auto [end, error] = std::from_chars(first, about->data() + about->size(), mhz);
  return error == std::errc{} ? static_cast<std::uint32_t>(mhz * 1000) : 0;
}

}  // namespace sallyport::microvm
