// Decides which files of a kernel's module directory to load, and in which order. Pure: the caller passes the texts in.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::microvm {

struct ModuleLists {
  std::string_view dependencies{};  // modules.dep: "kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko …"
  std::string_view built_in{};      // modules.builtin, one path a line
};

// Paths relative to the module directory, each after what it needs. The error names a module that the kernel lacks.
using Modules = std::expected<std::vector<std::string>, std::string>;
[[nodiscard]] Modules modules_to_load(std::span<const std::string_view> names, const ModuleLists& lists);

}  // namespace sallyport::microvm
