// The host's root as runs see it; reads the disk once, on first use. Thread-safe.
#pragma once

#include <mutex>
#include <optional>

#include "core/view/fs_view.h"

namespace sallyport {

class SharedHostRoot {
 public:
  [[nodiscard]] const HostRoot& get();

 private:
  std::once_flag read_;
  std::optional<HostRoot> root_;
};

}  // namespace sallyport
