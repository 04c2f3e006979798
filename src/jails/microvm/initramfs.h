// An initramfs as the kernel unpacks it: a cpio archive of the format "newc" (Documentation/driver-api/early-userspace/buffer-format).
// Pure, and without dates, so the same files give the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sallyport::microvm {

struct InitramfsFile {
  std::string path{};      // without a leading slash
  std::uint32_t mode = 0;  // with the file type: S_IFREG | 0755
  std::string content{};
};

// List a directory before its content.
[[nodiscard]] std::string pack_initramfs(std::span<const InitramfsFile> files);

}  // namespace sallyport::microvm
