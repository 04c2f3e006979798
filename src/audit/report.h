// The log as one self-contained page: no network, no framework. Untrusted text (arguments, hosts, paths) is data in it,
// never markup: JSON in a script element whose '<' is escaped, shown as text only, under a policy that allows only the
// page's own script and style, by their hashes.
#pragma once

#include <cstdint>
#include <string>

#include "audit/log_directory.h"
#include "sallyport/result.h"

namespace sallyport::audit {

struct ReportPage {
  std::string html{};
  std::uint64_t calls = 0;
  std::uint64_t left_out = 0;  // older calls, more than a browser shows smoothly
};
[[nodiscard]] Result<ReportPage> report_page(const LogDirectory& directory);

}  // namespace sallyport::audit
