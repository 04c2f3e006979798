// Any bytes as what ast-grep printed on stdout and on stderr.
#include "jobs/report/ast_grep.h"

#include <cstddef>
#include <cstdint>

#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto matches = sallyport::jobs::parse_ast_grep(bytes);
  if (matches) {
    for (const auto& match : *matches) require(match.place.line > 0 && !match.rule.empty());
  }
  static_cast<void>(sallyport::jobs::parse_ast_grep_summary(bytes));
  return 0;
}
