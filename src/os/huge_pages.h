// Large blocks of memory in large pages: one fault instead of five hundred.
#pragma once

#include <span>

namespace sallyport {

// A wish: a kernel without huge pages, or none free, leaves the block as it is. To be called before it is written to.
void prefer_huge_pages(std::span<char> block);

}  // namespace sallyport
