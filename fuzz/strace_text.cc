// Any bytes as what strace printed: a trace that names a program, or a reason.
#include "jobs/probe/strace_text.h"

#include <cstddef>
#include <cstdint>

#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = sallyport::jobs::parse_strace({reinterpret_cast<const char*>(data), size});
  require(trace ? !trace->programs.empty() : !trace.error().empty());
  return 0;
}
