#include "os/huge_pages.h"

#include <sys/mman.h>

#include <cstddef>
#include <memory>

namespace sallyport {
namespace {

// The most common size of a huge page. On other systems the kernel uses what fits.
constexpr std::size_t kHugePage = std::size_t{2} << 20U;

}  // namespace

void prefer_huge_pages(std::span<char> block) {
  void* start = block.data();
  std::size_t size = block.size();
  // Only whole pages inside the block: the memory around it belongs to others.
  if (std::align(kHugePage, kHugePage, start, size) == nullptr) return;
  static_cast<void>(::madvise(start, size / kHugePage * kHugePage, MADV_HUGEPAGE));
}

}  // namespace sallyport
