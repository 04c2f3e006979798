// Any bytes as istanbul's JSON.
#include "fuzz/scanner_output.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sallyport::jobs::check_output(sallyport::jobs::parse_istanbul, data, size);
}
