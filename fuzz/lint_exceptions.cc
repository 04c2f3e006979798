// Any text as a file of exceptions: each has a rule, a path and a reason, or the error points into the text.
#include <cstddef>
#include <cstdint>

#include "fuzz/require.h"
#include "jobs/lint/exceptions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto exceptions = sallyport::jobs::parse_exceptions(text, "fuzz");
  if (!exceptions) {
    require(exceptions.error().as<sallyport::PolicyError>()->line > 0);
    return 0;
  }
  for (const sallyport::jobs::Exception& one : *exceptions) {
    require(!one.reason.empty());
    static_cast<void>(sallyport::jobs::path_matches(one.path, text.substr(0, 200)));
  }
  return 0;
}
