#include "core/bytes/streaming_copy.h"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sallyport {

#ifdef __SSE2__

namespace {

// Below this, waiting for the stores to reach memory costs more than the caches do.
constexpr std::size_t kWorthStreaming = 4096;
constexpr std::size_t kLine = 64;

}  // namespace

void streaming_copy(char* to, const char* from, std::size_t size) {
  if (size < kWorthStreaming) {
    std::memcpy(to, from, size);
    return;
  }
  const std::size_t to_the_next_line = (0 - reinterpret_cast<std::uintptr_t>(to)) % kLine;
  std::memcpy(to, from, to_the_next_line);
  std::size_t at = to_the_next_line;
  for (; size - at >= kLine; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  std::memcpy(to + at, from + at, size - at);
  _mm_sfence();  // streamed stores are not ordered with other stores, not even by a lock
}

#else

void streaming_copy(char* to, const char* from, std::size_t size) { std::memcpy(to, from, size); }

#endif

}  // namespace sallyport
