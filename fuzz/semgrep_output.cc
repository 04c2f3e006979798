// Any bytes as semgrep --json.
#include "fuzz/scanner_output.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto output = sallyport::jobs::parse_semgrep(std::string_view(reinterpret_cast<const char*>(data), size));
  if (output) sallyport::jobs::check_parsed(output->parsed);
  return 0;
}
