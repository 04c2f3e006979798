#include "os/huge_pages.h"

#include <sys/mman.h>

#include <cstddef>
#include <memory>

namespace sallyport {
namespace {

// The size of a huge page where they are used most. Where it is another one, the kernel takes what fits.
constexpr std::size_t kHugePage = std::size_t{2} << 20U;

}  // namespace

void prefer_huge_pages(std::span<char> block) {
  void* start = block.data();
  std::size_t size = block.size();
  // Only whole pages inside the block: what lies around it is somebody else's.
  if (std::align(kHugePage, kHugePage, start, size) == nullptr) return;
  static_cast<void>(::madvise(start, size / kHugePage * kHugePage, MADV_HUGEPAGE));
}

}  // namespace sallyport
