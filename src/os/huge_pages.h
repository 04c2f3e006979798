// Large blocks of memory in large pages: one fault instead of five hundred.
#pragma once

#include <span>

namespace sallyport {

// A hint: a kernel without huge pages, or without free ones, leaves the block as it is. Call it before the first write.
void prefer_huge_pages(std::span<char> block);

}  // namespace sallyport
