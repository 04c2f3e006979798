// std::memcpy for bytes that nobody will read soon: they go past the processor's caches where it can do that. A kept
// tail of tens of megabytes is such a place; written through the caches, each line of it is first fetched from memory.
#pragma once

#include <cstddef>

namespace sallyport {

// The two places must not overlap.
void streaming_copy(char* to, const char* from, std::size_t size);

}  // namespace sallyport
