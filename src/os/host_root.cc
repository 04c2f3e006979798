#include "os/host_root.h"

#include "os/host_layout.h"

namespace sallyport {

const HostRoot& SharedHostRoot::get() {
  std::call_once(read_, [this] { root_.emplace(read_host_layout()); });
  return *root_;
}

}  // namespace sallyport
