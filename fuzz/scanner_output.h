// Any bytes as what a scanner printed: findings that a report can show, or a reason; never both, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "jobs/probe/parsers.h"
#include "jobs/report/sarif.h"
#include "jobs/report/text.h"

namespace sallyport::jobs {

inline void check_parsed(const Parsed& parsed) {
  Ran ran{.findings = parsed.findings, .inventory = parsed.inventory, .invocations = {}};
  for (const Finding& finding : ran.findings) require(!finding.rule.empty() && !finding.message.empty());
  const ScannerOutcome outcome = ran;
  const SarifRun run{.tool = "fuzz", .category = "fuzz", .rules = {}, .outcome = &outcome};
  const std::string text = sarif(std::span(&run, 1), "0");
  require(is_utf8(text));
  require(read_baseline(text, "fuzz").has_value());
}

template <class Parse>
int check_output(Parse parse, const std::uint8_t* data, std::size_t size) {
  const auto parsed = parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (parsed) {
    check_parsed(*parsed);
  } else {
    require(!parsed.error().empty());
  }
  return 0;
}

}  // namespace sallyport::jobs
