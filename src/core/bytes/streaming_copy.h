// std::memcpy for bytes that nobody will read soon: where the processor can, they bypass its caches. We use it for a
// kept tail of tens of megabytes; a write through the caches would first fetch each line from memory.
#pragma once

#include <cstddef>

namespace sallyport {

// The two places must not overlap.
void streaming_copy(char* to, const char* from, std::size_t size);

}  // namespace sallyport
